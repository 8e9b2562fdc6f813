/** What an assistant is told by a preview of updates is whole: of all updates, not only of those that are listed. */

import { beforeAll, describe, expect, it } from 'vitest';
import { seedFleet } from '../../bench/lib/seed.js';
import { connect, type Driver, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

const SITES = 2_000;

let mcp: McpApp;
let driver: Driver;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 1 });
  await seedFleet(mcp.app.db, { sites: SITES, plugins: 10 });
  await mcp.app.db.run("UPDATE site SET sync_error = ''");
  await mcp.app.db.run('UPDATE site SET suspended = (id % 20 = 0), disconnected = 0');
  await mcp.app.db.run("UPDATE site_detail SET child_version = '3.5' WHERE site_id % 20 = 1");
  await mcp.app.db.run('UPDATE site SET unreached = 1 WHERE id % 20 = 2');
  driver = await connect(['2025-11-25', 'http'], mcp.target);
});

type Counted = Record<string, number>;

async function answerTo(name: string, args: Record<string, unknown>) {
  const result = await driver.call(name, args);
  expect([name, result.isError ?? false]).toEqual([name, false]);
  return {
    answer: result.structuredContent as Record<string, never>,
    texts: result.content.slice(1).map((_, at) => textOf(result, at + 1)),
  };
}

/** Updates on offer by error code; '' = would be applied. */
async function expected(where = '1', ...args: string[]): Promise<Counted> {
  const rows = await mcp.app.db.all(
    `SELECT CASE WHEN u.site_id % 20 = 0 THEN 'svc_site_suspended' WHEN u.site_id % 20 = 1 THEN 'svc_child_version_outdated'
       WHEN u.ignored = 2 THEN 'svc_version_quarantined' WHEN u.needs <> '' THEN 'svc_requirement_missing' ELSE '' END AS code, count(*) AS n
     FROM site_update u WHERE u.ignored <> 1 AND ${where} GROUP BY 1`,
    args,
  );
  return Object.fromEntries(rows.map(({ code, n }) => [String(code), Number(n)]));
}

const countsOf = (list: { code: string; count: number }[]): Counted =>
  Object.fromEntries(list.map(({ code, count }) => [code, count]));

describe.each(['svc-run-updates-v1', 'svc-update-all-v1'])('%s on 2,000 sites', (name) => {
  it('counts all that it would do and leave, and says that its list is cut, and what to call', async () => {
    const { '': applied = 0, ...skipped } = await expected();
    expect(applied).toBeGreaterThan(1000);
    const { answer, texts } = await answerTo(name, { dry_run: true });
    const { would_affect, will_be_skipped, would_update, truncated } = answer as never as {
      would_affect: {
        total: number;
        by_item: string[];
        cannot_be_rolled_back: number;
        sites_down: number;
      };
      will_be_skipped: { code: string; count: number }[];
      would_update: object[];
      truncated: string;
    };
    expect([would_affect.total, countsOf(will_be_skipped)]).toEqual([applied, skipped]);
    const counts = would_affect.by_item.map((line) => Number(/: (\d+) \(/.exec(line)?.[1]));
    expect(counts.reduce((a, b) => a + b)).toBe(applied);
    expect(would_affect.by_item.length).toBeLessThan(40);
    expect(would_affect.cannot_be_rolled_back).toBe(applied);
    const down = await mcp.app.db.one(
      'SELECT count(DISTINCT site_id) AS n FROM site_update WHERE ignored = 0 AND site_id % 20 = 2',
    );
    expect(would_affect.sites_down).toBe(down?.n);
    expect(truncated).toContain(`${would_update.length} of ${applied} would_update`);
    expect(truncated).not.toContain('was done;');
    expect(truncated).toContain('Read all: svc-list-updates-v1 {}');
    const { total_errors, errors } = answer as never as { total_errors?: number; errors: object[] };
    const left = `that what is in errors (${total_errors ?? errors.length}) is left out`;
    expect(texts.at(-1)).toBe(
      `Next, once the user has agreed ${left} (else mend that first, and preview again): ${name} {}`,
    );
  });

  it('counts one item by its levels', async () => {
    const item = await mcp.app.db.one(
      `SELECT slug, type, count(*) AS n FROM site_update WHERE ignored = 0 AND type = 1 GROUP BY 1, 2 ORDER BY n DESC, slug LIMIT 1`,
    );
    const slug = String(item?.slug);
    const { '': applied = 0, ...skipped } = await expected('u.slug = ?', slug);
    const { answer } = await answerTo(name, { slug, dry_run: true });
    expect(answer).toMatchObject({ would_affect: { total: applied } });
    expect(countsOf(answer.will_be_skipped as never)).toEqual(skipped);
    const levels = await mcp.app.db.all(
      `SELECT level, count(*) AS n FROM site_update WHERE slug = ? AND ignored = 0 AND site_id % 20 > 1 GROUP BY 1`,
      [slug],
    );
    const words = ['patch', 'minor', 'major'];
    const [line = '', ...others] = (answer.would_affect as never as { by_item: string[] }).by_item;
    expect([line.slice(0, line.indexOf('(')), others]).toEqual([`plugin ${slug}: ${applied} `, []]);
    expect(/\((.*)\)$/.exec(line)?.[1]?.split(', ').sort()).toEqual(
      levels.map((row) => `${row.n} ${words[Number(row.level)]}`).sort(),
    );
  });

  it('names no next call if there is nothing to do', async () => {
    const { answer, texts } = await answerTo(name, { search: 'zzzzz', dry_run: true });
    expect(answer).toMatchObject({ would_affect: { total: 0 } });
    expect(texts.join()).not.toContain('Next');
  });
});

it('an exact item is taken by its exact slug only: the answer says which one is meant, and counts no site', async () => {
  const item = await mcp.app.db.one("SELECT slug FROM site_update WHERE type = 1 AND slug LIKE '%/%' LIMIT 1");
  const slug = String(item?.slug);
  const folder = slug.slice(0, slug.indexOf('/'));
  for (const [said, why] of [
    [folder, `the exact slug is ${slug}.`],
    ['nothing/such.php', 'it is up to date, ignored, or not installed.'],
  ]) {
    const { answer, texts } = await answerTo('svc-run-updates-v1', { specific_items: [said], dry_run: true });
    const message = `No update of ${said} is on offer on any of these sites: ${why}`;
    expect(answer.would_affect).toMatchObject({ total: 0, sites: 0 });
    expect(answer.errors).toContainEqual(expect.objectContaining({ code: 'svc_no_updates', slug: said, message }));
    expect(texts.join()).not.toContain('Next');
  }
});

it('names the sites that are down and have a guard, which then leaves them alone', async () => {
  const pick = (rest: number) =>
    mcp.app.db.one(
      `SELECT min(site_id) AS id FROM site_update WHERE ignored = 0 AND type = 1 AND site_id % 20 = ${rest}`,
    );
  const [down, up] = [Number((await pick(2))?.id), Number((await pick(3))?.id)];
  const one = { site_ids_or_domains: [down, up], dry_run: true };
  const { answer: before } = await answerTo('svc-run-updates-v1', one);
  expect(before.would_affect).toMatchObject({ sites: 2, sites_down: 1 });
  expect(before.would_affect).not.toHaveProperty('left_alone_if_still_down');
  await mcp.app.db.run(
    `INSERT INTO site_guard (site_id, present, hello, looked_at) VALUES (${down}, 1, '{}', 1), (${up}, 1, '{}', 1)`,
  );
  const { answer } = await answerTo('svc-run-updates-v1', one);
  expect(answer.would_affect).toMatchObject({ sites: 2, sites_down: 1, left_alone_if_still_down: [down] });
});
