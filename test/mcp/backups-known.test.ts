/** Of which sites a backup is known, and how old the last one is: searched, counted, and in the brief; also over REST. */

import { beforeAll, describe, expect, it } from 'vitest';
import { meritsOf } from '../../src/domain/updates/rollouts/canary-choice.js';
import { type RestApp, restApp } from '../rest/client.js';
import type { Answer } from '../support/harness.js';
import { connect, type McpApp, mcpApp } from '../support/mcp-clients.js';

const DAY = 86_400_000;
let mcp: McpApp;
let rest: RestApp;
let call: (name: string, input?: Record<string, unknown>) => Promise<Answer>;

/** The last backup of site 1 was 40 days ago, that of site 2 one day; of sites 3 and 4 none is known. */
async function made(app: Pick<RestApp, 'db' | 'clock'>) {
  await app.db.run('UPDATE site_detail SET last_backup = NULL');
  for (const [site, days] of [
    [1, 40],
    [2, 1],
  ] as const)
    await app.db.run("UPDATE site_detail SET backup_plugin = 'updraftplus', last_backup = ? WHERE site_id = ?", [
      Math.floor((app.clock.now() - days * DAY) / 1000),
      site,
    ]);
}

beforeAll(async () => {
  mcp = await mcpApp({ sites: 4, connected: 4, realClock: false });
  const client = await connect(['2025-11-25', 'http'], mcp.target);
  call = async (name, input = {}) => (await client.call(name, input)).structuredContent;
  await made(mcp.app);
  rest = await restApp({ sites: 4 });
  for (const at of [0, 1, 2, 3]) await rest.connect(at);
  await made(rest);
});

const search = async (input: object) => {
  const answer = await call('svc-search-fleet-v1', { fields: ['id', 'backup'], ...input });
  return { ...answer, ids: answer.rows?.map(([id]: [number]) => id) };
};
const dayOf = (days: number) => new Date(mcp.app.clock.now() - days * DAY).toISOString().slice(0, 10);

describe('search-fleet', () => {
  it('finds the sites of which a backup is known, or none, with the day of the last one', async () => {
    expect((await search({ backup: 'known' })).rows).toEqual([
      [1, dayOf(40)],
      [2, dayOf(1)],
    ]);
    expect((await search({ backup: 'unknown' })).rows).toEqual([
      [3, null],
      [4, null],
    ]);
    expect((await call('svc-search-fleet-v1', { backup: 'unknown' })).columns).toContain('backup');
  });

  it('finds old backups, and says of how many sites that is not known', async () => {
    expect(await search({ backup_older_than_days: 7 })).toMatchObject({ ids: [1], total: 1, unknown: 2 });
    expect(await search({ backup_older_than_days: 60 })).toMatchObject({ ids: [], unknown: 2 });
  });

  it('counts sites by it', async () => {
    const { groups } = await call('svc-search-fleet-v1', { group_by: 'backup' });
    expect(groups).toHaveLength(2);
    expect(groups).toContainEqual({ value: 'known', count: 2 });
    expect(groups).toContainEqual({ value: 'unknown', count: 2 });
  });

  it('knows what the choice of canaries by their backups knows', async () => {
    const { ranks } = await meritsOf(mcp.app.ctx(), 'newest_backup', [1, 2, 3, 4]);
    expect([...ranks.keys()].sort()).toEqual((await search({ backup: 'known' })).ids);
  });

  it('has the same filters and column over REST', async () => {
    const rows = async (query: string) => (await rest.rest(`GET /fleet/sites?columns=id,backup&${query}`)).body.rows;
    expect((await rows('backup=unknown')).map(([id]: [number]) => id).sort()).toEqual([3, 4]);
    expect((await rows('backup_older_than_days=7')).map(([id]: [number]) => id)).toEqual([1]);
    const sorted = await rest.rest('GET /fleet/sites?columns=id,backup&orderby=backup&order=desc');
    expect(sorted.body.rows.map(([id]: [number]) => id).slice(0, 2)).toEqual([2, 1]);
  });
});

describe('the brief', () => {
  it('says of how many sites no backup is known, with the call that lists them', async () => {
    const { not_known } = await call('svc-get-fleet-brief-v1');
    const [line = ''] = not_known.filter((text: string) => text.includes('backup'));
    expect(line).toMatch(/: 2 sites$/);
    const input = JSON.parse(/svc-search-fleet-v1 (\{.*\})/.exec(line)?.[1] ?? '{}') as Record<string, unknown>;
    expect((await search(input)).ids).toEqual([3, 4]);
    const { body } = await rest.rest('GET /fleet/attention');
    expect(body.data.not_known.backups).toBe(2);
  });
});
