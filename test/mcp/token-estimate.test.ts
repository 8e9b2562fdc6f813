/**
 * The token estimate against a real tokenizer: never too low for our own output, nor for anything a site could send.
 */

import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { estimateTextTokens, MOST_PER_CODE_UNIT, tokenWeight } from '../../src/surfaces/mcp/token-estimate.js';
import { operations } from '../../tools/index.js';
import { LOCAL, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

const o200k = new Tiktoken(ranks);
const tokensOf = (text: string) => o200k.encode(text, 'all').length;

/** A deterministic sequence of numbers below `below`. */
function sequence(below: number): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

function randomText(alphabet: string, length: number): string {
  const letters = [...alphabet];
  const next = sequence(letters.length);
  return Array.from({ length }, () => letters[next()]).join('');
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';

describe('texts of any kind', () => {
  it.each<[string, string]>([
    [
      'prose',
      'The quick brown fox jumps over the lazy dog, and Sitefleet manages a fleet of WordPress sites. '.repeat(30),
    ],
    [
      'addresses',
      '"https://www.example.com/blog/2025/12/03/a-post-about-woo-commerce/?utm_source=x&p=12","id":17,'.repeat(30),
    ],
    [
      'slugs and versions',
      '{"slug":"contact-form-7/wp-contact-form-7.php","version":"6.0.5","new_version":"6.1"},'.repeat(30),
    ],
    ['times', '"2025-12-03T10:00:00Z","last_sync":"2026-01-31T23:59:59Z",'.repeat(30)],
    ['hexadecimal', randomText(`${DIGITS}abcdef`, 600)],
    ['base64', randomText(`${LOWER}${LOWER.toUpperCase()}${DIGITS}-_`, 600)],
    ['digits', randomText(DIGITS, 600)],
    ['capitals', randomText(LOWER.toUpperCase(), 600)],
    ['small letters', randomText(LOWER, 600)],
    ['marks', randomText('{}[]":,.;!?/\\-_()<>@#$%^&*', 600)],
    ['escapes', '\\n\\t\\"\\\\'.repeat(200)],
    ['German', 'Übergrößenträger für Straßenbäume und öffentliche Gebäude '.repeat(30)],
    ['Russian', 'Обновление плагинов сайта '.repeat(30)],
    ['Chinese', '管理网站的更新和插件'.repeat(60)],
    ['Tibetan', 'བོད་སྐད་ཡིག'.repeat(60)],
    ['emoji', '😀🎉🏳️‍🌈👩‍👩‍👧'.repeat(60)],
    ['quotes and dashes', '“plugin” – ‘theme’ … '.repeat(60)],
  ])('%s', (_name, text) => {
    const tokens = tokensOf(text);
    expect(estimateTextTokens(text)).toBeGreaterThanOrEqual(tokens);
    // An estimate far too high would make pages needlessly small.
    expect(estimateTextTokens(text)).toBeLessThan(6 * tokens);
  });
});

it('no code unit weighs more than the shortcut of the budget assumes', () => {
  for (let unit = 0; unit < 0x10000; unit += 1)
    expect(tokenWeight(String.fromCharCode(unit)), `U+${unit.toString(16)}`).toBeLessThanOrEqual(MOST_PER_CODE_UNIT);
});

describe('what the product sends', () => {
  let mcp: McpApp;
  beforeAll(async () => {
    mcp = await mcpApp({ sites: 20, connected: 20 });
    await mcp.app.call('add-client', { name: 'Acme', client_email: 'office@acme.example', selected_sites: [1, 2] });
    await mcp.app.call('add-tag', { name: 'shops' });
  });

  it('answers of reading tools', async () => {
    const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };
    const ids: Record<string, unknown> = { site_id_or_domain: 1, client_id_or_email: 1, tag_id: 1 };
    let compared = 0;
    for (const operation of operations.filter(
      ({ effect, id }) =>
        effect === 'read' && !/job|get-post|get-run|get-rollout|get-backup|verify-backup|preview-policy/.test(id),
    )) {
      const names = Object.keys(operation.input().shape);
      // Only one of them: a report is of a site or of a client.
      const args = Object.fromEntries(
        Object.entries(ids)
          .filter(([name]) => names.includes(name))
          .slice(0, 1),
      );
      if (operation.id === 'svc/compare-sites-v1') args.site_ids_or_domains = [1, 2];
      const result = (await mcp.core.registry.callTool(operation.id, args, caller)) as never;
      const text = textOf(result);
      expect([operation.id, text.startsWith('{')]).toEqual([operation.id, true]);
      expect([operation.id, estimateTextTokens(text) >= tokensOf(text)]).toEqual([operation.id, true]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(20);
  });

  it('the catalogue of tools', () => {
    const text = JSON.stringify(mcp.core.registry.listTools(LOCAL));
    const tokens = tokensOf(text);
    expect(estimateTextTokens(text)).toBeGreaterThanOrEqual(tokens);
    expect(estimateTextTokens(text)).toBeLessThan(1.8 * tokens);
  });
});
