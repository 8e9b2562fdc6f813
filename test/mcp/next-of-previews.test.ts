/** A preview says that it is one, what would become of it, and the exact call that does it. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { connect, type Driver, type McpApp, mcpApp, textOf } from '../support/mcp-clients.js';

let mcp: McpApp;
let client: Driver;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2, realClock: false, fleet: { plugins: 4 } });
  client = await connect(['2025-11-25', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=all` });
});

async function tool(name: string, input: object = {}): Promise<Answer & { said: string }> {
  const result = await client.call(`svc-${name}-v1`, input as Record<string, unknown>);
  if (result.isError === true) throw new Error(textOf(result));
  const texts = result.content.slice(1).map((_, at) => textOf(result, at + 1));
  return { ...(result.structuredContent as Answer), said: texts.join('\n') };
}
/** The call that a text names after these words, as it stands there. */
const callIn = (text: string, words: string) => {
  const found = new RegExp(`${words}[^:\\n]*: svc-([a-z-]+)-v1 (\\{.*\\})`).exec(text);
  return found === null ? undefined : ([found[1] as string, JSON.parse(found[2] as string) as object] as const);
};
const NEXT = 'Next, once the user has agreed';

describe('of what is done to a rollout', () => {
  it('each says what would become of it and changes nothing; the call it names does it', async () => {
    const { plan_id, digest } = await tool('plan-updates', { waves: { canaries: 1, approve: true } });
    const { rollout_id } = await tool('start-rollout', { plan_id, digest, confirm: true });
    // Of the second wave, which waits for an approval.
    const { untouched } = (await tool('get-rollout', { rollout_id })).counts;
    const left = `${untouched} ${untouched === 1 ? 'update' : 'updates'}`;
    for (const [action, from, to, would] of [
      ['pause', 'running', 'paused', `It would be paused: sites in progress are finished, and ${left} would wait`],
      ['resume', 'paused', 'running', `It would continue with ${left}.`],
      ['abort', 'running', 'aborted', `It would end for good: ${left} would never be made`],
    ] as const) {
      const preview = await tool('control-rollout', { rollout_id, action, dry_run: true });
      expect(preview).toMatchObject({ dry_run: true, state: from, next: expect.stringContaining(would) });
      const next = callIn(preview.said, NEXT);
      expect(next).toEqual(['control-rollout', { rollout_id, action, confirm: true }]);
      expect((await tool('get-rollout', { rollout_id })).state).toBe(from);
      expect(await tool(...(next as NonNullable<typeof next>))).toMatchObject({ state: to });
    }
  });
});

describe('of an undo', () => {
  it('the next call has the digest of what was shown, also from another of its pages', async () => {
    const since = new Date(mcp.app.clock.now()).toISOString();
    for (let at = 0; at < 30; at++) await tool('add-tag', { name: `t${at}` });
    const preview = await tool('undo-change', { since, dry_run: true });
    expect(preview).toMatchObject({ total_undo: 30, digest: expect.any(String) });
    const further = callIn(preview.truncated, 'Next page');
    expect(preview.truncated).toContain('20 of 30 undo are shown.');
    expect(further).toEqual(['undo-change', { since, dry_run: true, page: 2 }]);
    const second = await tool(...(further as NonNullable<typeof further>));
    expect(second.undo).toHaveLength(10);
    const next = callIn(second.said, NEXT);
    expect(next).toEqual(['undo-change', { since, digest: preview.digest, confirm: true }]);
    expect(await tool(...(next as NonNullable<typeof next>))).toMatchObject({ total_undone: 30 });
    expect(await tool('list-tags')).toMatchObject({ total: 0 });
  });

  it('of nothing that can be undone says why, and names no next call', async () => {
    const { id } = await tool('add-time-task', { title: 'Work', duration_seconds: 60 });
    const { actions } = await tool('list-actions', { contexts: ['call'], per_page: 1 });
    const preview = await tool('undo-change', { change_id: actions[0].id, dry_run: true });
    expect(preview).toMatchObject({ total_undo: 0, errors: [{ name: 'Work', code: 'svc_not_undoable' }] });
    expect(preview.said).not.toContain('Next');
    await tool('update-time-task', { task_id: id, title: 'Care' });
    await tool('delete-time-task', { task_id: id, confirm: true });
    const { changes } = await tool('search-changes', { kinds: ['task'] });
    expect(changes.map(({ what }: Answer) => what)).toEqual([
      'Deleted task: Care',
      'Updated task: Care (title)',
      'Added task: Work',
    ]);
  });
});
