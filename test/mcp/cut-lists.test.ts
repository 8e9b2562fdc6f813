/** A list that is not whole says so, how many there are, and the call that has the rest: followed, it gives every item once. */

import { beforeAll, describe, expect, it } from 'vitest';
import { seedFleet } from '../../bench/lib/seed.js';
import { z } from '../../schemas/zod.js';
import { contractOf, toolName } from '../../src/operation/contract.js';
import { defineOperation } from '../../src/operation/operation.js';
import { systemClock } from '../../src/runtime/clock.js';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { createToolRegistry } from '../../src/surfaces/mcp/registry.js';
import { operations } from '../../tools/index.js';
import { LOCAL, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';
import { silent } from '../support/surfaces.js';
import { tokens } from '../support/tokens.js';

/** More than the largest page of a list, and more than fit into an answer. */
const MANY = 430;
const JOB = `update_${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;
const RUN = `run_${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;
const ROLLOUT = `rollout_${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;
const ORIGIN = JSON.stringify({
  type: 'key',
  id: 1,
  name: 'ada',
  via: 'mcp',
  operation: 'svc/run-updates-v1',
  request_id: 'r',
});
const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };

let mcp: McpApp;

beforeAll(async () => {
  mcp = await mcpApp({ realClock: false, sites: 1, config: { toolsets: [...TOOLSETS] } });
  const { db, clock, service } = mcp.app;
  await seedFleet(db, { sites: 2_000, plugins: 10 });
  const now = clock.now();
  const each = (text: string) =>
    db.run(text.replaceAll('NOW', String(now)).replace('FROM many', 'FROM json_each(?)'), [
      JSON.stringify(Array.from({ length: MANY }, (_, i) => i + 1)),
    ]);
  await db.run("UPDATE site SET sync_error = '', suspended = 0, client_id = iif(id % 3 = 0, 1, client_id)");
  await db.run('UPDATE site SET client_id = 2 WHERE id % 60 = 1');
  await db.run('INSERT OR IGNORE INTO site_tag (site_id, tag_id) SELECT id, 1 FROM site WHERE id % 3 = 0');
  await each(
    "INSERT INTO tag (name, name_key, created_at, updated_at) SELECT 'More ' || value, 'more ' || value, 1, 1 FROM many",
  );
  await each(
    "INSERT INTO ignored_update (site_id, type, slug, version, name) SELECT value, 1, 'a/a.php', '*', 'A' FROM many",
  );
  await each(
    "INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created) SELECT 1, 'wpadmin', value, 'plugin', 'updated', 'P' || value, 'ada', 1, value FROM many",
  );
  await each(
    "INSERT INTO guidance (site_id, text, author, created_at) SELECT value, 'Wait for Monday ' || value, 'ada', 1 FROM many",
  );
  for (const kind of [0, 1])
    await each(
      `INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key) SELECT s.id, ${kind}, 'old', 'Old', '1', 1000, s.url_key FROM many JOIN site s ON s.id = value`,
    );
  await each(
    "INSERT INTO quarantined_version (type, slug, version, name, site_id, site_url, change_id, evidence, created_at, scope) SELECT 1, 'q' || value, '1', 'Q', value, 'u', 'c', '[]', value, 'site' FROM many",
  );
  await each('UPDATE site_certificate SET last_check = 1 WHERE site_id IN (SELECT value FROM many)');
  await each(
    "INSERT OR IGNORE INTO site_certificate (site_id, status, valid_to, last_check) SELECT value, 'valid', NOW + 90000000, 1 FROM many",
  );
  await each("INSERT INTO domain (name, expiry_date) SELECT 'd' || value || '.example', NOW + 90000000 FROM many");
  await each("INSERT INTO site_domain (site_id, domain) SELECT value, 'd' || value || '.example' FROM many");
  await each(
    "INSERT INTO incident (site_id, started_at, ended_at, msg, down_count) SELECT value, NOW - value - 60000, NOW - value, 'down', 1 FROM many",
  );
  await each(
    "INSERT INTO alert (key, kind, site_id, at, facts) SELECT 'k' || value, 'site_down', value, NOW - value, '{}' FROM many",
  );
  await each(
    "INSERT INTO cost (name, type, license_type, cost_status, price, created_at, updated_at) SELECT 'Cost ' || value, 'lifetime', 'single_site', 'active', '1', 1, 1 FROM many",
  );
  await each(
    "INSERT INTO time_bucket (title, title_key, hours, recurrence, starts_on, created_at, updated_at) SELECT 'B' || value, 'b' || value, '1', 'none', '2020-01-01', 1, 1 FROM many",
  );
  await each(
    "INSERT INTO time_task (title, search, client_id, timer_mode, created_at, updated_at) SELECT 'T' || value, 't', 1 + value % 200, 'count_up', value, value FROM many",
  );
  await each(
    `INSERT INTO update_run (id, started_at, ended_at, owner, actor, origin, asked, sites) SELECT 'run_' || value, NOW - value, NOW, 'o', 'ada', '${ORIGIN}', '{"types":[],"specific_items":[]}', 1 FROM many`,
  );
  await db.run(
    `INSERT INTO update_run (id, started_at, ended_at, owner, actor, origin, asked, sites) VALUES ('${RUN}', ${now}, ${now}, 'o', 'ada', '${ORIGIN}', '{"types":[],"specific_items":[]}', ${MANY})`,
  );
  await each(
    `INSERT INTO update_run_item (run_id, site_id, type, slug, name, old_version, new_version, protection, state, change_id, finished_at) SELECT '${RUN}', value, 1, 'a/a.php', 'A', '1', '2', 'none', 'kept', 'c' || value, NOW FROM many`,
  );
  await each(
    "INSERT INTO rollout_plan (id, digest, maker, maker_name, created_at, expires_at, rules) SELECT 'plan_' || value, 'd', 'key:1', 'k', NOW, NOW, '{}' FROM many",
  );
  await each(
    `INSERT INTO rollout (id, plan_id, digest, rules, state, actor, origin, started_at, ended_at, settled_at)
     SELECT iif(value = 1, '${ROLLOUT}', 'rollout_' || value), 'plan_' || value, 'd', '{}', 'completed', 'ada', '${ORIGIN}', NOW - value, NOW, NOW FROM many`,
  );
  await each(
    "INSERT INTO rollout_plan_item (plan_id, site_id, type, slug, name, old_version, new_version, protection, wave) SELECT 'plan_1', value, 1, 'a/a.php', 'A', '1', '2', 'none', 1 FROM many",
  );
  await each(
    `INSERT INTO rollout_site (rollout_id, site_id, wave, run_id) SELECT '${ROLLOUT}', value, 1, '${RUN}' FROM many`,
  );
  await each(
    `INSERT INTO policy (name, name_key, enabled, definition, changed_by, changed_at, due_at)
     SELECT 'P' || value, 'p' || value, 0, '{"schedule":{"at":"02:00"}}', 'ada', 1, 1 FROM many`,
  );
  await db.run(
    `INSERT INTO job (id, type, params, status, total, chunk, delay_ms, timeout_ms, created_at, completed_at, next_run_at) VALUES ('${JOB}', 'update', '{}', 'completed', ${MANY}, 20, 0, 1, ${now}, ${now}, 1)`,
  );
  await each(
    `INSERT INTO job_site (job_id, position, site_id, state, finished_at) SELECT '${JOB}', value, value, 2, NOW FROM many`,
  );
  // Fewer than the sites of the job.
  await db.run(
    `INSERT INTO job_item (job_id, position, number, site_id, done, facts) SELECT job_id, position, 0, site_id, 1, '{"type":"plugin","slug":"a/a.php"}' FROM job_site WHERE position <= 120`,
  );
  await each(
    `INSERT INTO approval (id, asker, asker_name, via, client, operation, title, kind, changes, input_digest, plan_digest, input, plan, asked_at, expires_at)
     SELECT 'apr_' || value, 'local:mcp', 'local', 'mcp', '', 'svc/delete-tag-v1', 'Delete a tag', 'deletions', '[]', value, '', '{}', '{}', NOW - value, NOW + 90000000 FROM many`,
  );
  await service.store.actionLog.add(
    Array.from({ length: MANY }, (_, i) => ({
      ...{ site_id: i + 1, context: 'plugin' as const, action: 'updated' as const, slug: 'a/a.php', name: `A ${i}` },
      ...{ new_version: '2', at: now - i },
    })),
  );
});

const ARGS: Record<string, object> = {
  'get-site-changes': { site_id_or_domain: 1 },
  'get-client-sites': { client_id_or_email: 1 },
  'get-tag-sites': { tag_id: 1 },
  'get-tag-clients': { tag_id: 1 },
  'get-run': { run_id: RUN },
  'get-rollout': { rollout_id: ROLLOUT },
  'plan-updates': { site_ids_or_domains: Array.from({ length: 60 }, (_, i) => i + 1) },
  'compare-sites': { site_ids_or_domains: [1, 2, 3, 4, 5] },
  'build-report': { client_id_or_email: 2 },
  'get-batch-job-status': { job_id: JOB },
};

/** Of backups and of a feed that this fleet does not have. */
const ELSEWHERE = ['list-backups', 'list-vulnerabilities'];

const paged = operations.filter(
  (operation) => operation.effect === 'read' && 'page' in (contractOf(operation).input_schema.properties as object),
);
const short = (id: string) => id.replace('svc/', '').replace('-v1', '');

async function answerTo(tool: string, args: object) {
  const result = await mcp.core.registry.callTool(tool, args, caller);
  if (!('content' in result)) throw new Error('a question');
  expect([tool, args, result.isError === true ? textOf(result) : '']).toEqual([tool, args, '']);
  return {
    answer: result.structuredContent as Record<string, unknown>,
    notes: result.content.slice(1).map((_, at) => textOf(result, at + 1)),
  };
}

/** Its name; errors have no pages. */
function longestList(answer: Record<string, unknown>): string {
  const lists = Object.entries(answer).filter(([key, value]) => Array.isArray(value) && key !== 'errors');
  return lists.sort(([, a], [, b]) => (b as []).length - (a as []).length)[0]?.[0] ?? '';
}

const NEXT = /Next page: (svc-[a-z-]+-v1) (\{.*\})$/;

describe('each list with pages, over MCP', () => {
  const names = paged.map(({ id }) => short(id)).filter((name) => !ELSEWHERE.includes(name));

  it.each(names)('%s says that it is cut, of how many, and names pages that exist', async (name) => {
    let tool = toolName(`svc/${name}-v1`);
    let args = ARGS[name] ?? {};
    const seen: string[] = [];
    let total = 0;
    let list = '';
    for (let pages = 1; pages < 300; pages += 1) {
      const { answer, notes } = await answerTo(tool, args);
      total = Number(answer.items_total ?? answer.total_groups ?? answer.total);
      list ||= longestList(answer);
      const items = answer[list] as unknown[];
      expect([name, pages, items.length > 0]).toEqual([name, pages, true]);
      seen.push(...items.map((item) => JSON.stringify(item)));
      const first = pages === 1;
      if (first) expect([name, total > items.length]).toEqual([name, true]);
      // On a page of no chosen size, it is part of the answer.
      if (first) expect(answer.truncated).toContain(`${items.length} of ${total} ${list} are shown.`);
      const next = NEXT.exec(first ? String(answer.truncated) : (notes.at(-1) ?? ''));
      if (next === null) break;
      tool = next[1] ?? '';
      args = JSON.parse(next[2] ?? '{}') as object;
    }
    expect([name, seen.length, new Set(seen).size]).toEqual([name, total, total]);
  });

  it('has the others only where sites or feeds are asked', () => {
    expect(
      paged
        .map(({ id }) => short(id))
        .filter((name) => ELSEWHERE.includes(name))
        .sort(),
    ).toEqual(ELSEWHERE);
  });
});

/** Beyond what is listed with pages. */
const OTHERS: Record<string, object> = {
  'get-site': { site_id_or_domain: 1, include_stats: true },
  'get-client-costs': { client_id_or_email: 2 },
  'get-batch-job-status': { job_id: JOB },
  'preview-policy': { policy_id: 1 },
  'list-guidance': {},
};

/** Answers at any size of the fleet, if no page of a size was asked for. */
const MOST_TOKENS = 5_000;

describe('an answer', () => {
  /** Of a site that answers itself, of which this fleet has none. */
  const live = ['get-backup', 'get-post', 'get-site-guard', 'list-site-snapshots'];
  const reads = operations.filter(({ effect, id }) => effect === 'read' && !live.includes(short(id)));
  const previews = operations.filter(({ multi, input }) => multi && 'dry_run' in input().shape);

  async function argsOf(name: string): Promise<object> {
    const takes = Object.keys(operations.find(({ id }) => short(id) === name)?.input().shape ?? {});
    const known = { site_id_or_domain: 1, client_id_or_email: 1, tag_id: 1 };
    const named = ARGS[name] !== undefined || OTHERS[name] !== undefined;
    const required = Object.entries(known).filter(([field]) => takes.includes(field) && !named);
    return { ...Object.fromEntries(required), ...ARGS[name], ...OTHERS[name] };
  }

  async function previewOf(name: string): Promise<object> {
    const plugin = await mcp.app.db.one('SELECT slug FROM package WHERE kind = 0 LIMIT 1');
    const more: Record<string, object> = {
      'switch-plugin': { plugin: plugin?.slug, action: 'deactivate' },
      'retry-run': { run_id: RUN },
      'undo-change': { run_id: RUN },
      'tag-sites': { site_ids_or_domains: Array.from({ length: 1_000 }, (_, i) => i + 1), add: ['New'], create: true },
    };
    return { ...more[name], dry_run: true };
  }

  it.each(reads.map(({ id }) => short(id)))('of %s stays below 5,000 tokens unless a size is named', async (name) => {
    const { answer } = await answerTo(toolName(`svc/${name}-v1`), await argsOf(name));
    expect([name, tokens(answer) <= MOST_TOKENS, tokens(answer)]).toEqual([name, true, expect.any(Number)]);
  });

  it.each(previews.map(({ id }) => short(id)))('of %s as a preview, too', async (name) => {
    const { answer } = await answerTo(toolName(`svc/${name}-v1`), await previewOf(name));
    expect([name, tokens(answer) <= MOST_TOKENS, tokens(answer)]).toEqual([name, true, expect.any(Number)]);
  });

  const pagesOf = (name: string) => (paged.some(({ id }) => short(id) === name) ? [{}, { per_page: 20 }] : [{}]);

  it.each([...reads, ...previews].map(({ id }) => short(id)))(
    'of %s has its short lists whole while a longer one has more',
    async (name) => {
      const { operations: all, invoke } = mcp.app.service;
      const parts = { operations: all, invoke, log: silent, clock: systemClock, readOnly: false, toolsets: TOOLSETS };
      const unbounded = createToolRegistry({ ...parts, maxTokens: 10_000_000 });
      const bounded = createToolRegistry({ ...parts, maxTokens: 1_200 });
      const tool = toolName(`svc/${name}-v1`);
      const basic = previews.some(({ id }) => short(id) === name) ? await previewOf(name) : await argsOf(name);
      for (const page of pagesOf(name)) {
        const args = { ...basic, ...page };
        const [whole, answer] = await Promise.all(
          [unbounded, bounded].map(async (registry) => {
            const result = await registry.callTool(tool, args, caller);
            return ('content' in result && result.structuredContent) || {};
          }),
        );
        const shown = new Map(listsIn(answer ?? {}));
        for (const [list, items] of listsIn(whole ?? {})) {
          // What is cut to a page is all there, on others.
          if ([items.length, answer?.per_page].includes(shown.get(list)?.length)) continue;
          // Of what was cut, the next item might have been as large as the largest.
          const next = Math.max(...items.map((item) => tokens(item)));
          for (const [other, kept] of shown) {
            if (other === list) continue;
            const most = tokens(shown.get(list) ?? []) + next + 10;
            expect([name, page, list, other, tokens(kept) <= most]).toEqual([name, page, list, other, true]);
          }
        }
      }
    },
  );
});

/** Errors matter more, and have rules of their own. */
function listsIn(answer: Record<string, unknown>): [string, unknown[]][] {
  return Object.entries(answer).filter(
    (entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && entry[0] !== 'errors',
  );
}

describe('lists without pages', () => {
  it('get-sites-basic says how many there are, and names the list with pages', async () => {
    const { answer } = await answerTo('svc-get-sites-basic-v1', {});
    const shown = (answer.sites as unknown[]).length;
    expect(shown).toBeLessThan(2_000);
    expect(answer.truncated).toBe(
      `Cut to fit: ${shown} of 2000 sites are shown. Read all: svc-list-sites-v1 {"per_page":100}`,
    );
  });

  it('get-client-costs names the list that has every cost', async () => {
    await mcp.app.db.run('INSERT INTO cost_target (cost_id, client_id) SELECT id, 2 FROM cost');
    const { answer } = await answerTo('svc-get-client-costs-v1', { client_id_or_email: 2 });
    const shown = (answer.costs as unknown[]).length;
    const sites = Number((await mcp.app.db.one('SELECT count(*) AS n FROM site WHERE client_id = 2'))?.n);
    expect(sites).toBeGreaterThan(1);
    expect(answer.truncated).toBe(
      `Cut to fit: ${shown} of ${MANY * sites} costs are shown. Read all: svc-list-costs-v1 {}`,
    );
  });

  it('those by site name the sites that are left, until every one was shown', async () => {
    const all = Array.from({ length: 80 }, (_, at) => at + 1);
    const bySite = defineOperation({
      id: 'svc/look-v1',
      title: 'Look',
      about: 'Looks.',
      run: 'POST',
      effect: 'read',
      input: () => z.object({ site_ids_or_domains: z.array(z.number()).default([]), deep: z.boolean().default(false) }),
      output: () => z.object({ sites: z.array(z.object({ site_id: z.number(), posts: z.array(z.string()) })) }),
      handle: async ({ site_ids_or_domains: asked }) => ({
        sites: (asked.length === 0 ? all : asked).map((site_id) => ({ site_id, posts: ['a post with a title'] })),
      }),
    });
    const registry = createToolRegistry({
      operations: [{ ...bySite, group: 'sites' }],
      invoke: (operation, raw) => operation.call(raw, { config: {}, actor: LOCAL } as never),
      log: silent,
      clock: systemClock,
      readOnly: false,
      toolsets: TOOLSETS,
      maxTokens: 1_000,
    });
    const noted = async (ids: readonly number[]) => {
      const result = await registry.callTool('svc-look-v1', { site_ids_or_domains: ids }, caller);
      return 'content' in result ? String(result.structuredContent?.truncated) : '';
    };
    expect(await noted([...all, ...all.map((id) => id + 80)])).toMatch(/Next 50 of these 1\d\d sites: svc-look-v1 /);
    const seen: number[] = [];
    let args: object = { deep: true };
    for (let calls = 0; calls < 90; calls += 1) {
      const result = await registry.callTool('svc-look-v1', args, caller);
      const { sites, truncated } = ('content' in result ? result.structuredContent : {}) as {
        sites: { site_id: number }[];
        truncated?: string;
      };
      seen.push(...sites.map(({ site_id }) => site_id));
      if (truncated === undefined) break;
      args = JSON.parse(/Next sites: svc-look-v1 (\{.*\})$/.exec(truncated)?.[1] ?? '{}');
      expect(args).toMatchObject({ deep: true });
    }
    expect(seen).toEqual(all);
  });
});
