/** Monitors of named sites are changed by an assistant as over REST: by the same rules, with a preview. */

import { beforeAll, expect, it } from 'vitest';
import { type Ask, type Ways, ways } from '../approvals/client.js';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, textOf } from '../support/mcp-clients.js';

let app: Ways;
let client: Driver;
let key: Ask;

beforeAll(async () => {
  app = await ways({ sites: 3, connected: 3 });
  await app.app.call('update-site', { site_id_or_domain: 2, name: 'Bakery' });
  client = await connect(['2025-11-25', 'http'], { ...app.target, url: `${app.url}?toolsets=all` });
  key = await app.key();
});

const call = (input: object) => client.call('svc-update-monitors-v1', input as Record<string, unknown>);
async function tool(input: object): Promise<Answer> {
  const result = await call(input);
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent as Answer;
}
const stored = async (id: number) => (await key(`GET /monitors/${id}`)).body.data;

it('sets what is named, and nothing in a preview', async () => {
  const { interval_minutes: before } = await stored(2);
  const change = { site_ids_or_domains: [1, 'Bakery', 'nowhere.example'], interval: 30, maxretries: 2 };
  const preview = await tool({ ...change, dry_run: true });
  expect(preview).toMatchObject({ dry_run: true, needs_approval: null, total_changed: 2, total_errors: 1 });
  expect((await stored(2)).interval_minutes).toBe(before);
  const { dry_run: _, needs_approval: _none, ...would } = preview;
  expect(await tool(change)).toEqual(would);
  expect(would.changed[1]).toMatchObject({
    site_id: 2,
    changes: expect.arrayContaining([`interval ${before} (global) to 30`]),
  });
  expect(await stored(2)).toMatchObject({ interval_minutes: 30, maxretries: 2 });
  expect(await tool(change)).toMatchObject({ total_changed: 0, total_unchanged: 2 });
  expect(await tool({ site_ids_or_domains: [2], follow: ['interval'] })).toMatchObject({ total_changed: 1 });
  expect(await stored(2)).toMatchObject({ interval_minutes: before, maxretries: 2 });
});

it('keeps what is set, although it is what the global setting is now, and says so of the site', async () => {
  const { interval_minutes: global } = await stored(3);
  const of = async (): Promise<Answer> =>
    ((await client.call('svc-list-monitors-v1', { site_id_or_domain: 3 })).structuredContent as Answer).settings;
  expect(await of()).toMatchObject({ interval: global, global: expect.arrayContaining(['interval', 'keyword']) });
  const { changed } = await tool({ site_ids_or_domains: [3], interval: global });
  expect(changed).toMatchObject([{ site_id: 3, changes: [`interval ${global} (global) to ${global}`] }]);
  expect((await of()).global).not.toContain('interval');
  expect(await tool({ site_ids_or_domains: [3], interval: global })).toMatchObject({ total_changed: 0 });
  await tool({ site_ids_or_domains: [3], follow: ['interval'] });
  expect((await of()).global).toContain('interval');
});

it('pauses checks for a time, and lets them go on', async () => {
  const until = new Date(app.app.clock.now() + 30 * 60_000).toISOString().replace('.000Z', 'Z');
  const answer = await tool({ site_ids_or_domains: [3], maintenance_minutes: 30 });
  expect(answer.changed).toMatchObject([{ site_id: 3, changes: [`maintenance until ${until}`] }]);
  const rows = () => app.app.db.one('SELECT maintenance_until FROM monitor WHERE site_id = 3');
  expect((await rows())?.maintenance_until).toBe(app.app.clock.now() + 30 * 60_000);
  await tool({ site_ids_or_domains: [3], maintenance_minutes: 0 });
  expect((await rows())?.maintenance_until).toBeNull();
});

it('refuses what contradicts itself or is missing, and changes nothing', async () => {
  for (const [input, text] of [
    [{ site_ids_or_domains: [1] }, /^svc_invalid_input: interval: Nothing is to be changed/],
    [{ site_ids_or_domains: [], interval: 15 }, /at least one site/],
    [{ site_ids_or_domains: [1], interval: 7 }, /Field: interval/],
    [
      { site_ids_or_domains: [1], interval: 15, follow: ['interval'] },
      /^svc_invalid_input: interval: interval is set and also/,
    ],
    [{ site_ids_or_domains: [1], intervall: 15 }, /interval/],
  ] as const)
    expect(textOf(await call(input))).toMatch(text);
  // Of one site it is an error of the answer.
  const keyword = await tool({ site_ids_or_domains: [1], type: 'keyword', dry_run: true });
  expect(keyword).toMatchObject({ total_changed: 0, total_errors: 1, errors: [{ site_id: 1 }] });
  const sent = await tool({ site_ids_or_domains: [1], type: 'keyword', keyword: 'Welcome' });
  expect(sent.total_changed).toBe(1);
  expect(await stored(1)).toMatchObject({ type: 'keyword', keyword: 'Welcome' });
});
