/** Lists of what sites have: no total that is not one. A site with more than was asked for is named, over REST as well. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type RestApp, restApp } from '../rest/client.js';
import type { Answer } from '../support/harness.js';
import { connect, mcpApp } from '../support/mcp-clients.js';

const SITES = [1, 2, 3];
let mcp: Awaited<ReturnType<typeof mcpApp>>;
let call: (name: string, input: Record<string, unknown>) => Promise<Answer>;
let rest: RestApp;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 3, connected: 3, config: { toolsets: ['content'], modules: ['comments'] } });
  const client = await connect(['2025-11-25', 'http'], mcp.target);
  call = async (name, input) => (await client.call(name, input)).structuredContent;
  rest = await restApp({ sites: 3, config: { modules: ['comments'] } });
  for (const at of [0, 1, 2]) await rest.connect(at);
});

/** What the sites have: comments in a state, or posts of a type that are not in the trash. */
function counts(app: { fleet: RestApp['fleet'] }, kind: 'comments' | 'posts', wanted: string): number[] {
  return SITES.map((id) => {
    const { comments, posts } = app.fleet.site(id - 1).state;
    return kind === 'comments'
      ? comments.filter(({ status }) => status === wanted).length
      : posts.filter(({ type, status }) => type === wanted && status !== 'trash').length;
  });
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0);

describe.each([
  ['list-comments', 'comments', 'approved', { status: 'approved' }],
  ['list-posts', 'posts', 'post', {}],
  ['list-posts', 'posts', 'page', { post_type: 'page' }],
] as const)('svc-%s-v1 of %s: %s', (tool, kind, wanted, filter) => {
  it('has a total only if it shows all', async () => {
    const there = counts(mcp.app, kind, wanted);
    expect(Math.max(...there)).toBeGreaterThan(1);
    const asked = { site_ids_or_domains: SITES, ...filter };
    const all = await call(`svc-${tool}-v1`, { ...asked, per_site: 200 });
    expect(all).toMatchObject({ total: sum(there) });
    expect(all).not.toHaveProperty('truncated');
    // As many as the site with the most has.
    const whole = await call(`svc-${tool}-v1`, { ...asked, per_site: Math.max(...there) });
    expect(whole).toMatchObject({ total: sum(there) });
    const cut = await call(`svc-${tool}-v1`, { ...asked, per_site: 1 });
    const more = SITES.filter((_, at) => (there[at] ?? 0) > 1);
    const shown = there.filter((n) => n > 0).length;
    expect(cut.total).toBeNull();
    expect(cut.sites.flatMap((site: Answer) => site[kind])).toHaveLength(shown);
    expect(cut.truncated).toContain(`${shown} are shown, and there are at least ${shown + more.length}`);
    expect(cut.truncated).toContain(`${more.length === 1 ? 'site' : 'sites'} ${more.join(', ')} `);
    expect(cut.truncated).toContain('per_site');
  });

  it('names the same sites over REST', async () => {
    const there = counts(rest, kind, wanted);
    const more = SITES.filter((_, at) => (there[at] ?? 0) > 1);
    const words = kind === 'comments' ? 'status=approved' : `post_type=${wanted}`;
    const cut = (await rest.rest(`GET /${kind}?${words}&maximum=1`)).body;
    expect(cut).toMatchObject({ more, total: there.filter((n) => n > 0).length });
    if (kind === 'comments') expect(cut.message).toMatch(/ shown; \d sites? ha(s|ve) more than maximum\.$/);
    const whole = (await rest.rest(`GET /${kind}?${words}&maximum=200`)).body;
    expect(whole).toMatchObject({ more: [], total: sum(there) });
  });
});

it('says that pages were not looked at where posts were asked for', async () => {
  const posts = await call('svc-list-posts-v1', { status: ['draft'] });
  expect(posts.not_looked_at).toMatch(/^Pages .* post_type: "page"\.$/);
  expect(await call('svc-list-posts-v1', { post_type: 'page' })).not.toHaveProperty('not_looked_at');
});
