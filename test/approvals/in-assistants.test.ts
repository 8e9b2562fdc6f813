/**
 * Requests for approval that are answered in the assistant that asked, through the official clients of both generations:
 * only where a person has allowed it, once, and for exactly what was shown.
 */

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localActor } from '../../src/cli/local-actor.js';
import { newKey } from '../support/logins.js';
import { type Answerer, connect, type Driver, type Era, type Transport, textOf, WAYS } from '../support/mcp-clients.js';
import { sendModern } from '../support/mcp-messages.js';
import { type Ways, ways } from './client.js';

const TAG = 'svc-delete-tag-v1';
const MINUTE = 60_000;
const ERAS: [Era, Transport][] = [
  ['2025-11-25', 'http'],
  ['2026-07-28', 'http'],
];
const approve = { action: 'accept', content: { confirm: true } } as const;

let app: Ways;
let tags = 0;

beforeAll(async () => {
  app = await ways({ sites: 7, connected: 7 });
});
beforeEach(() => app.rules({ preset: 'careful', in_assistants: true }));

/** A tag to delete, which careful asks for. */
async function tag(): Promise<number> {
  return (await app.app.call('add-tag', { name: `tag ${++tags}` }, { actor: localActor('cli') })).id;
}
const exists = async (id: number) =>
  (await app.app.call('list-tags', { per_page: 100 })).items.some((one: { id: number }) => one.id === id);
const latest = async () => (await app.app.db.all('SELECT * FROM approval ORDER BY rowid DESC LIMIT 1'))[0];

/** An assistant whose person gives these answers, one after the other; `asked` gets the questions. */
async function assistant(way: [Era, Transport], replies: Awaited<ReturnType<Answerer>>[], change: object = {}) {
  const asked: string[] = [];
  const answer: Answerer = async ({ message }) => {
    asked.push(message);
    return replies[asked.length - 1] ?? { action: 'cancel' };
  };
  const driver = await connect(way, { ...app.target, answer, ...change });
  return { driver, asked };
}
const remove = (driver: Driver, tag_id: number) => driver.call(TAG, { tag_id, confirm: true });

describe.each(WAYS)('a person is asked (%s over %s)', (...way) => {
  it('once, with what would happen, and the call runs: bound, used, and logged as what it was', async () => {
    const id = await tag();
    const { driver, asked } = await assistant(way, [approve]);
    expect((await remove(driver, id)).structuredContent).toMatchObject({ deleted: true });
    expect(await exists(id)).toBe(false);
    expect(asked).toEqual([
      `Delete the tag "tag ${tags}"? 0 sites lose it. Your answer decides this request for approval, in place of the people who may approve on the page.`,
    ]);
    const request = await latest();
    expect(request).toMatchObject({ state: 'used', decided_by: 'a person through test 1', via: 'mcp' });
    expect(String(request?.note)).toContain('cannot be checked');
    const { actions } = await app.app.call('list-actions', { per_page: 100, details: true });
    const story = actions
      .filter(({ slug }: { slug: string }) => slug === request?.id)
      .map(({ action, via, detail }: Record<string, string>) => [action, via, detail]);
    expect(story).toEqual([
      ['used', 'mcp', ''],
      ['approved', 'mcp', 'by a person through test 1'],
      ['asked', 'mcp', ''],
    ]);
  });

  it('and declines: the request ends, and the answer says so', async () => {
    const id = await tag();
    const { driver, asked } = await assistant(way, [{ action: 'decline' }]);
    const said = textOf(await remove(driver, id));
    expect(said).toMatch(/^svc_approval_refused: a person through test 1 refused this change\. Nothing changed\./);
    expect(await latest()).toMatchObject({ state: 'refused', decided_by: 'a person through test 1' });
    // It stays refused: nobody is asked until they agree.
    expect(textOf(await remove(driver, id))).toMatch(/^svc_approval_refused/);
    expect(asked).toHaveLength(1);
    expect(await exists(id)).toBe(true);
  });

  it('and closes the question: the request waits, and can be approved elsewhere', async () => {
    const id = await tag();
    const { driver, asked } = await assistant(way, [{ action: 'cancel' }]);
    const said = textOf(await remove(driver, id));
    const request = await latest();
    expect(said).toMatch(/^svc_approval_required: /);
    expect(said).toContain(`request ${request?.id} is waiting at`);
    expect(said).not.toContain('in_assistant');
    expect(request?.state).toBe('waiting');
    await app.shell.approve(String(request?.id));
    await driver.close();
    const silent = await connect(way, app.target);
    expect((await remove(silent, id)).structuredContent).toMatchObject({ deleted: true });
    expect(asked).toHaveLength(1);
  });

  it('by nobody whose program cannot ask', async () => {
    const id = await tag();
    const silent = await connect(way, app.target);
    const said = textOf(await remove(silent, id));
    expect(said).toMatch(/^svc_approval_required: /);
    expect(said).not.toContain('in_assistant');
    expect((await latest())?.state).toBe('waiting');
    expect(await exists(id)).toBe(true);
  });
});

describe.each(ERAS)('what is asked (%s over %s)', (...way) => {
  it('nothing while the rule is off, which it is unless somebody sets it', async () => {
    await app.app.db.run("DELETE FROM setting WHERE key = 'approvals'");
    await app.rules({ preset: 'strict' });
    expect((await (await app.key())('GET /approvals/rules')).body.data).toMatchObject({ in_assistants: false });
    const { driver, asked } = await assistant(way, [approve, approve]);
    const said = textOf(await driver.call('svc-add-tag-v1', { name: 'never made' }));
    expect(said).toMatch(/^svc_approval_required: /);
    expect(asked).toEqual([]);
    expect((await latest())?.state).toBe('waiting');
  });

  it('the call itself, where it has no preview', async () => {
    await app.rules({ preset: 'strict' });
    const { driver, asked } = await assistant(way, [approve]);
    const name = `asked ${++tags}`;
    expect((await driver.call('svc-add-tag-v1', { name })).structuredContent).toMatchObject({ name });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain(`The call: {"name":"${name}"`);
  });

  it('a call on many sites, once: its approval covers its confirmation', async () => {
    const { driver, asked } = await assistant(way, [approve]);
    // Of each era, as nothing is left to update of what was updated.
    const types = [way[0] === '2025-11-25' ? 'translations' : 'themes'];
    const done = await driver.call('svc-run-updates-v1', { types });
    expect(textOf(done)).not.toMatch(/^svc_/);
    expect(asked).toEqual([expect.stringMatching(/^Update .*Your answer decides this request for approval/)]);
    expect((await latest())?.state).toBe('used');
  });

  it('nothing that is too long to be shown', async () => {
    await app.rules({ preset: 'strict' });
    const { driver, asked } = await assistant(way, [approve]);
    const said = textOf(await driver.call('svc-update-site-v1', { site_id_or_domain: 1, notes: 'n'.repeat(700) }));
    expect(said).toMatch(/^svc_approval_required: /);
    expect(asked).toEqual([]);
  });

  it('nothing that a question cannot show as it is: what cleaning removes, hides or reads as something else', async () => {
    await app.rules({ preset: 'strict' });
    const link = `${++tags}: <a href="https://shop.example/sale">Sale</a>`;
    const hidden = [
      // A mark of Markdown: with it, all markup of the line would be left out of the question.
      'Sale ![now](https://evil.example/a) <script src="https://evil.example/b.js"></script>',
      'Sale <|im_end|> <script src="https://evil.example/b.js"></script>',
      // Text that runs the other way, or is not seen at all.
      'Sale at \u202Emoc.elpmaxe',
      'Sale at shop\u200B.example',
      // One name in two scripts, by its encoded form.
      'Sale at https://xn--pple-43d.example/',
    ];
    const { driver, asked } = await assistant(way, [{ action: 'decline' }]);
    for (const text of hidden) {
      const notes = `${++tags}: ${text}`;
      const said = textOf(await driver.call('svc-update-site-v1', { site_id_or_domain: 1, notes }));
      expect(said, notes).toMatch(/^svc_approval_required: /);
      expect(asked, notes).toEqual([]);
      // A person sees it whole elsewhere.
      expect(JSON.parse(String((await latest())?.input))).toMatchObject({ notes });
    }
    await driver.call('svc-update-site-v1', { site_id_or_domain: 1, notes: link });
    expect(asked).toEqual([expect.stringContaining(JSON.stringify(link))]);
  });

  it('nothing that the rules never allow', async () => {
    const { driver, asked } = await assistant(way, [approve, approve]);
    const all = [1, 2, 3, 4, 5, 6, 7];
    const said = textOf(await driver.call('svc-disconnect-sites-v1', { site_ids_or_domains: all }));
    expect(said).toMatch(/^svc_change_not_allowed/);
    expect(asked).toEqual([]);
  });

  it('not a second time when what would happen changes while the person reads', async () => {
    const id = await tag();
    const asked: string[] = [];
    const answer: Answerer = async ({ message }) => {
      asked.push(message);
      await app.app.call('update-tag', { tag_id: id, name: `renamed ${++tags}` }, { actor: localActor('cli') });
      return approve;
    };
    const driver = await connect(way, { ...app.target, answer });
    const said = textOf(await remove(driver, id));
    expect(said).toMatch(/svc_approval_required: /);
    expect(said).not.toContain('in_assistant');
    expect(asked).toHaveLength(1);
    expect(await exists(id)).toBe(true);
    expect((await latest())?.state).toBe('waiting');
  });

  it('only the request that was shown, not one that was made meanwhile', async () => {
    const id = await tag();
    const silent = await connect(way, app.target);
    const answer: Answerer = async () => {
      await app.app.call('update-tag', { tag_id: id, name: `renamed ${++tags}` }, { actor: localActor('cli') });
      expect(textOf(await remove(silent, id))).toMatch(/^svc_approval_required: /);
      return approve;
    };
    const driver = await connect(way, { ...app.target, answer });
    expect(textOf(await remove(driver, id))).toMatch(/svc_approval_required: /);
    expect(await exists(id)).toBe(true);
    expect((await latest())?.state).toBe('waiting');
  });
});

describe('who may allow it', () => {
  it('people with the right; no key, no assistant, and nobody without the right', async () => {
    await app.rules({ in_assistants: false });
    const on = { in_assistants: true };
    const approver = await app.key({ approves: true });
    const used = await app.key({ approves: true });
    await (await app.assistant(used.token)).call('svc-list-tags-v1');
    const plain = await app.page(await app.user(['read', 'write']));
    for (const ask of [approver, used, await app.key(), plain])
      expect((await ask('PUT /approvals/rules', on)).body).toMatchObject({ code: 'svc_rest_insufficient_permission' });
    expect((await approver('GET /approvals/rules')).body.data.in_assistants).toBe(false);
    const page = await app.page(await app.user(['read', 'approve']));
    expect((await page('PUT /approvals/rules', on)).body.data).toMatchObject({
      preset: 'careful',
      in_assistants: true,
    });
    // Other rules leave it as it is, and everyone who may approve can take it back.
    expect((await page('PUT /approvals/rules', { preset: 'strict' })).body.data).toMatchObject(on);
    expect((await approver('PUT /approvals/rules', { in_assistants: false })).body.data.in_assistants).toBe(false);
  });
});

describe('2026-07-28, by hand', () => {
  const accept = { inputResponses: { approve: approve } };

  async function send(args: object, more: object = {}, { login = app.all, client = 'raw', elicits = true } = {}) {
    const from = { url: app.url, authorization: login, client, capabilities: elicits ? { elicitation: {} } : {} };
    const { body } = await sendModern(from, 'tools/call', { name: TAG, arguments: args, ...more });
    return body.result as Record<string, unknown>;
  }
  const WAITS = { isError: true, content: [{ text: expect.stringContaining('svc_approval_required: ') }] };

  /** A call that was asked about. */
  async function question() {
    const args = { tag_id: await tag(), confirm: true };
    const asked = await send(args);
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { approve: expect.anything() } });
    return { args, requestState: String(asked.requestState) };
  }

  it('a state is refused that is forged, for other arguments, of another login or program, or used', async () => {
    const { args, requestState } = await question();
    const forged = `${requestState.slice(0, -1)}${requestState.endsWith('_') ? '-' : '_'}`;
    const login = `Bearer ${(await newKey(app.app.service.store.keys)).token}`;
    const other = { tag_id: await tag(), confirm: true };
    for (const refused of [
      await send(args, { ...accept, requestState: forged }),
      await send(other, { ...accept, requestState }),
      await send(args, { ...accept, requestState }, { login }),
      await send(args, { ...accept, requestState }, { client: 'another' }),
      await send(args, { ...accept, requestState }, { elicits: false }),
    ])
      expect(refused).toMatchObject(WAITS);
    // An answer to the other kind of question is none to this one.
    const confirmed = await send(args, { inputResponses: { confirm: approve }, requestState });
    expect(confirmed).toMatchObject({ resultType: 'input_required', inputRequests: { approve: {} } });
    expect([await exists(args.tag_id), await exists(other.tag_id)]).toEqual([true, true]);
    // What is left unanswered uses the state up, too.
    expect(await send(args, { inputResponses: { approve: { action: 'cancel' } }, requestState })).toMatchObject(WAITS);
    expect(await send(args, { ...accept, requestState })).toMatchObject(WAITS);
    expect(await exists(args.tag_id)).toBe(true);
  });

  it('a state is refused after the plan has changed', async () => {
    const { args, requestState } = await question();
    await app.app.call('update-tag', { tag_id: args.tag_id, name: `other ${++tags}` }, { actor: localActor('cli') });
    const late = await send(args, { ...accept, requestState });
    expect(late).toMatchObject(WAITS);
    expect(JSON.stringify(late)).toContain('The answer was to another request');
    expect(await exists(args.tag_id)).toBe(true);
  });

  it('a state is refused once it has expired, or the rule is off again', async () => {
    const { args, requestState } = await question();
    app.app.clock.move(5 * MINUTE);
    const late = await send(args, { ...accept, requestState });
    expect(late).toMatchObject(WAITS);
    expect(JSON.stringify(late)).toContain('The answer came too late.');
    const again = await question();
    await app.rules({ in_assistants: false });
    // Then the call is confirmed as any other, and waits.
    expect(await send(again.args, { ...accept, requestState: again.requestState })).toMatchObject({
      inputRequests: { confirm: {} },
    });
    expect([await exists(args.tag_id), await exists(again.args.tag_id)]).toEqual([true, true]);
  });

  it('the answer of a confirmation approves nothing', async () => {
    await app.rules({ in_assistants: false });
    const args = { tag_id: await tag(), confirm: true };
    const asked = await send(args);
    expect(asked).toMatchObject({ inputRequests: { confirm: {} } });
    await app.rules({ in_assistants: true });
    const both = { confirm: approve, approve };
    const { requestState } = asked;
    expect(await send(args, { inputResponses: both, requestState })).toMatchObject(WAITS);
    expect(await exists(args.tag_id)).toBe(true);
  });
});
