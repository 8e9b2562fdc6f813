/** Every kind of alert in every form that people and assistants read: its facts are texts there, never a bare object. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod/v3';
import { ALERT_KIND_NAMES, ALERT_KINDS, type AlertKindName, RECIPIENT_TYPES } from '../../schemas/alerts.js';
import { mailsOf } from '../../src/domain/alerts/mail/alerts.js';
import { chatPost, webhookPost } from '../../src/domain/alerts/messages.js';
import { type MailedAlert, mailTypeOf } from '../../src/domain/alerts/words.js';
import { LOCAL, type McpApp, mcpApp } from '../support/mcp-clients.js';

const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };
const BARE = /\[object|undefined|NaN/;

/** A value for each member that the schema has: every text, number and list is filled. */
function filled(schema: z.ZodTypeAny, name = 'fact'): unknown {
  const { typeName, ...def } = schema._def as {
    typeName: string;
    innerType?: z.ZodTypeAny;
    type?: z.ZodTypeAny;
    values?: string[];
  };
  if (schema.description?.includes('ISO 8601') === true) return '2030-01-02T03:04:05Z';
  if (def.innerType !== undefined) return filled(def.innerType, name);
  if (typeName === 'ZodArray') return [1, 2].map((nth) => filled(def.type as z.ZodTypeAny, `${name} ${nth}`));
  if (typeName === 'ZodObject') {
    const { shape } = schema as z.ZodObject<z.ZodRawShape>;
    return Object.fromEntries(Object.entries(shape).map(([key, inner]) => [key, filled(inner, `${name} ${key}`)]));
  }
  if (typeName === 'ZodEnum') return def.values?.[0];
  return typeName === 'ZodNumber' ? 7 : `text of ${name}`;
}

/** All texts and numbers inside a value. */
function leaves(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.values(value).flatMap(leaves);
}

const factsOf = (kind: AlertKindName) => filled(ALERT_KINDS[kind].facts) as Record<string, unknown>;

const alertOf = (kind: AlertKindName, nth = 1): MailedAlert => ({
  ...{ id: nth, key: `${kind}:${nth}`, kind, site_id: 1, at: 1_790_000_000_000 },
  ...{ facts: JSON.stringify(factsOf(kind)), site_name: 'Shop', site_url: 'https://shop.example/' },
});

describe.each(ALERT_KIND_NAMES)('the alert %s', (kind) => {
  it('is a message in words for every recipient', () => {
    const target = { url: 'https://hooks.example/x', token: 't', chat_id: '1' } as Parameters<typeof chatPost>[1];
    const options = { page: 'https://fleet.example/', zone: 'UTC+0', test: false };
    const { text } = (webhookPost(target, alertOf(kind), options).body as { data: { text: string } }).data;
    expect(text).not.toMatch(BARE);
    for (const type of RECIPIENT_TYPES) {
      if (type === 'webhook') continue;
      for (const alerts of [[alertOf(kind)], [1, 2, 3].map((nth) => alertOf(kind, nth))])
        expect(JSON.stringify(chatPost(type, target, alerts, options).body)).not.toMatch(BARE);
    }
  });

  it('is a mail in words, alone or among others', () => {
    const head = { recipients: ['ada@example.com'], subject: '[event]', heading: '[site.name]' };
    const look = { zone: 'UTC+0', page: 'https://fleet.example/' };
    for (const count of [1, 300]) {
      const alerts = Array.from({ length: count }, (_, nth) => alertOf(kind, nth + 1));
      const mails = mailsOf(mailTypeOf(kind), head, alerts, look);
      expect(mails).not.toEqual([]);
      for (const mail of mails) expect(JSON.stringify(mail)).not.toMatch(BARE);
    }
  });
});

describe('list-alerts', () => {
  let mcp: McpApp;
  let shown: Map<string, { name: string; value: string }[]>;
  beforeAll(async () => {
    mcp = await mcpApp({ sites: 1, connected: 1 });
    await mcp.app.service.store.alerts.add(
      ALERT_KIND_NAMES.map((kind) => ({ key: kind, kind, site_id: 1, at: 1000, facts: factsOf(kind) })) as never,
    );
    const result = await mcp.core.registry.callTool('svc-list-alerts-v1', { per_page: 100 }, caller);
    if (!('structuredContent' in result)) throw new Error('no answer');
    const { alerts } = result.structuredContent as {
      alerts: { kind: string; facts: { name: string; value: string }[] }[];
    };
    shown = new Map(alerts.map(({ kind, facts }) => [kind, facts]));
  });

  it.each(ALERT_KIND_NAMES)('tells every fact of %s as text', (kind) => {
    const facts = factsOf(kind);
    const told = shown.get(kind) ?? [];
    expect(told.map(({ name }) => name).sort()).toEqual(Object.keys(facts).sort());
    for (const { name, value } of told) {
      expect(value).not.toMatch(BARE);
      for (const leaf of leaves(facts[name])) expect(value).toContain(leaf);
    }
  });

  it('leaves out of a fact what is not known', async () => {
    const worst = [
      { site: 'https://a.example/', item: 'Box 1.0', severity: 'critical' },
      { site: 'https://b.example/', item: 'Box, the 2.0; big', severity: null },
    ];
    await mcp.app.service.store.alerts.add([
      {
        ...{ key: 'again', kind: 'vulnerability.summary', site_id: null, at: 2000 },
        facts: { vulnerabilities: 1, critical: 1, items: 2, sites: 2, worst },
      },
    ]);
    const { alerts } = await mcp.app.call('list-alerts', { per_page: 1 });
    expect(alerts[0].facts.find(({ name }: { name: string }) => name === 'worst').value).toBe(
      'site https://a.example/, item "Box 1.0", severity critical; site https://b.example/, item "Box, the 2.0; big"',
    );
  });
});
