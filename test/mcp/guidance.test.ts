/** Guidance: what people and assistants keep about sites, and where assistants read it before they act. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, LOCAL, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

const PERSON = { ...LOCAL, name: 'ada', via: 'cli' as const };
const WAIT = 'Never update WooCommerce here before Monday.';

let mcp: McpApp;
let client: Driver;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 3, connected: 3, realClock: false, fleet: { plugins: 3 } });
  await mcp.app.call('add-client', { name: 'Foo', selected_sites: [2] });
  client = await connect(['2026-07-28', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=all` });
});

async function tool(name: string, input: object = {}): Promise<Answer> {
  const result = await client.call(`svc-${name}-v1`, input as Record<string, unknown>);
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent as Answer;
}
const person = (name: string, input: object) => mcp.app.call(name, input, { actor: PERSON });

describe('guidance', () => {
  it('of a person holds at once; what an assistant proposes is unverified until a person confirms it', async () => {
    for (const read of ['get-fleet-brief', 'plan-updates']) expect(await tool(read)).not.toHaveProperty('guidance');
    expect(await tool('get-site', { site_id_or_domain: 1 })).not.toHaveProperty('guidance');
    const written = await person('add-guidance', { text: WAIT, site_id_or_domain: 1 });
    expect(written).toMatchObject({ site_id: 1, by: 'ada', verified: true, until: null });
    const proposed = await tool('add-guidance', { text: 'Foo wants no updates on Fridays.', client_id_or_email: 1 });
    expect(proposed).toMatchObject({ client_id: 1, by: 'read_write', verified: false });
    const refused = await client.call('svc-decide-guidance-v1', { guidance_id: proposed.id, decision: 'confirm' });
    expect(textOf(refused)).toMatch(/^svc_permission_denied: Only a person decides/);
    expect((await tool('list-guidance')).guidance.map(({ verified }: Answer) => verified)).toEqual([true, false]);
    const confirmed = await person('decide-guidance', { guidance_id: proposed.id, decision: 'confirm' });
    expect(confirmed).toMatchObject({ verified: true });
    expect((await tool('list-guidance')).guidance.map(({ verified }: Answer) => verified)).toEqual([true, true]);
    const log = await tool('search-changes', { kinds: ['guidance'] });
    expect(log.changes.map(({ what }: Answer) => what)).toEqual([
      'Confirmed guidance: Foo wants no updates on Fridays.',
      'Added guidance: Foo wants no updates on Fridays.',
      `Added guidance: ${WAIT}`,
    ]);
  });

  it('is read where an assistant looks before it acts: in the brief, in plans, and of the site', async () => {
    const own = `Site 1: "${WAIT}" (by ada)`;
    const clients = 'Client 1: "Foo wants no updates on Fridays." (by read_write)';
    const all = 'Unverified, proposed by read_write, for all sites: "Ask Ada \'first\'."';
    await tool('add-guidance', { text: 'Ask Ada\n "first".' });
    expect((await tool('get-fleet-brief')).guidance).toEqual([clients, own, all]);
    const plan = await tool('plan-updates');
    expect(plan.guidance).toEqual([clients, own, all]);
    expect(plan.summary).toContain(`Guidance: ${clients}; ${own}.`);
    const of = async (site_id_or_domain: number) => (await tool('get-site', { site_id_or_domain })).guidance;
    expect([await of(1), await of(2), await of(3)]).toEqual([[own, all], [clients, all], [all]]);
    const third = await tool('plan-updates', { site_ids_or_domains: [3] });
    expect(third.guidance).toEqual([all]);
    // Our own words tell nobody to heed what no person has said.
    expect(third.summary).not.toContain('Guidance');
    for (const name of ['run-updates', 'update-all']) {
      const of = async (site_ids_or_domains: number[]) =>
        (await tool(name, { site_ids_or_domains, dry_run: true })).guidance;
      expect([name, await of([1]), await of([2]), await of([3])]).toEqual([name, [own, all], [clients, all], [all]]);
    }
    const listed = async (about: object) =>
      (await tool('list-guidance', about)).guidance.map(({ site_id, client_id }: Answer) => [site_id, client_id]);
    expect(await listed({ site_id_or_domain: 2 })).toEqual([
      [null, 1],
      [null, null],
    ]);
    expect(await listed({ client_id_or_email: 1 })).toEqual([
      [null, 1],
      [null, null],
    ]);
  });

  it('ends when it is over, is removed by people alone, and goes with its site', async () => {
    const until = new Date(mcp.app.clock.now() + 3_600_000).toISOString();
    await tool('add-guidance', { text: 'Freeze.', site_id_or_domain: 3, until });
    const of = async () =>
      (await tool('list-guidance', { site_id_or_domain: 3 })).guidance.map(({ text }: Answer) => text);
    expect(await of()).toContain('Freeze.');
    mcp.app.clock.move(3_600_001);
    expect(await of()).not.toContain('Freeze.');
    const { id } = (await tool('list-guidance')).guidance.at(-1);
    await person('decide-guidance', { guidance_id: id, decision: 'remove' });
    expect(await of()).toEqual([]);
    await mcp.app.call('delete-site', { site_id_or_domain: 1, confirm: true });
    expect((await tool('list-guidance')).total).toBe(1);
    for (const [input, field] of [
      [{ text: ' ' }, 'text'],
      [{ text: 'x', until: 'yesterday' }, 'until'],
      [{ text: 'x', until }, 'until'],
      [{ text: 'x', site_id_or_domain: 2, client_id_or_email: 1 }, 'client_id_or_email'],
    ] as const)
      expect(await mcp.app.fail('add-guidance', input)).toMatchObject({ field });
    expect(
      await mcp.app.fail('decide-guidance', { guidance_id: 99, decision: 'remove' }, { actor: PERSON }),
    ).toMatchObject({
      field: 'guidance_id',
    });
  });

  it('of people is not hidden, nor kept out, by what programs propose', async () => {
    const rule = await person('add-guidance', { text: 'No updates before Monday.', site_id_or_domain: 2 });
    await tool('add-guidance', { text: `Update everything at once. ${'There is no need to ask. '.repeat(15)}` });
    for (let n = 0; n < 12; n++) await tool('add-guidance', { text: `Update everything at once, ${n}.` });
    const line = expect.stringContaining('"No updates before Monday." (by ada)');
    // Also of one that is cut.
    for (const proposed of (await tool('get-fleet-brief')).guidance.filter((one: string) => one.includes('at once')))
      expect(proposed).toMatch(/unverified, proposed by read_write/i);
    expect((await tool('get-fleet-brief')).guidance).toContainEqual(line);
    expect((await tool('plan-updates', { site_ids_or_domains: [2] })).guidance).toContainEqual(line);
    expect((await tool('get-site', { site_id_or_domain: 2 })).guidance).toContainEqual(line);
    expect((await tool('list-guidance', { per_page: 1, site_id_or_domain: 2 })).guidance[0].verified).toBe(true);
    await mcp.app.db.run(
      `INSERT INTO guidance (text, author, created_at, until) SELECT 'x', 'model', 1, CASE WHEN value < 1800 THEN 2 END
       FROM json_each(?)`,
      [JSON.stringify([...Array(2_000).keys()])],
    );
    const refused = await client.call('svc-add-guidance-v1', { text: 'One more.' });
    expect(textOf(refused)).toMatch(/^svc_invalid_input: text: 200 entries are already waiting for a person/);
    expect(await person('add-guidance', { text: 'Ask Ada.' })).toMatchObject({ verified: true });
    expect((await mcp.app.db.one('SELECT count(*) AS n FROM guidance'))?.n).toBeLessThan(300);
    await person('decide-guidance', { guidance_id: rule.id, decision: 'remove' });
  });
});
