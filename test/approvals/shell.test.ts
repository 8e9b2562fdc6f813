/** Approving in the shell, by a process that knows nothing of the one that was asked: the request outlives both. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decide, listRequests, rules } from '../../src/cli/approvals.js';
import { tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/config.js';
import { newKey } from '../support/logins.js';
import { printed as printedBy, shown as shownBy } from '../support/printed.js';
import { SHELL, ways } from './client.js';

const config = testConfig({ db: `file:${join(tempFolder('approvals'), 'fleet.db')}` });

const NAME = 'sitefleet approvals';
const shown = (command: () => Promise<void>) => shownBy(NAME, command);
const printed = (command: () => Promise<void>) => printedBy(NAME, command);

it('a request outlives the process that was asked, and its approval the one that gave it', async () => {
  const first = await ways({ sites: 1, realClock: true, config });
  const { id } = await first.app.call('add-tag', { name: 'shops' });
  const { token } = await first.key();
  expect(await printed(() => rules(config, 'careful', { json: true }))).toMatchObject({ preset: 'careful' });
  for (const inAssistants of ['on', 'off'] as const)
    expect(await printed(() => rules(config, undefined, { inAssistants, json: true }))).toMatchObject({
      preset: 'careful',
      in_assistants: inAssistants === 'on',
    });
  const asked = await first.withToken(token)(`DELETE /tags/${id}/remove`);
  expect(asked.body.code).toBe('svc_approval_required');
  await first.close();

  const listed = await printed(() => listRequests(config, { json: true }));
  const { approval_id } = asked.body.data;
  expect(listed).toMatchObject([{ approval_id, state: 'waiting', via: 'rest', plan: { tag_name: 'shops' } }]);
  const approved = await printed(() => decide(config, approval_id, 'approved', { note: '', json: true }));
  expect(approved).toMatchObject({ state: 'approved', decided_by: 'local' });
  await expect(decide(config, approval_id, 'refused', { note: '', json: true })).rejects.toThrow('is approved already');

  const second = await ways({ sites: 1, realClock: true, config });
  const repeat = () => second.withToken(token)(`DELETE /tags/${id}/remove`);
  expect((await repeat()).status).toBe(200);
  expect((await repeat()).status).toBe(404);
  expect(await printed(() => listRequests(config, { json: true }))).toEqual([]);
  expect(await printed(() => listRequests(config, { json: true, all: true }))).toMatchObject([
    { approval_id, state: 'used' },
  ]);
});

it('what a program asked for is listed without characters that a terminal acts on', async () => {
  const own = testConfig({ db: `file:${join(tempFolder('approvals'), 'fleet.db')}` });
  const app = await ways({ sites: 1, connected: 1, realClock: true, config: own });
  await app.rules({ preset: 'strict' });
  // Turns the direction of the text, ends the line, and begins a command of the terminal.
  const odd = 'a\u202Eb\u2028c';
  const { token } = await newKey(app.app.service.store.keys, { description: `key ${odd}\u009B2J` });
  const edit = await app.withToken(token)('PUT /sites/1/edit', { notes: `note ${odd}` });
  expect(edit.body.code).toBe('svc_approval_required');
  await app.close();
  const text = await shown(() => listRequests(own, {}));
  expect(text).toMatch(/\tkey a.*b.*c.*2J\t/);
  expect(text).toContain('note a\\u202eb\\u2028c');
  expect(text.replace(/[\n\t]/g, '')).not.toMatch(/\p{Cc}|\p{Cf}|\p{Zl}/u);
  // As data it is what was asked for.
  const listed = await shownBy(NAME, () => listRequests(own, { json: true }), [process.stdout]);
  expect(JSON.parse(listed)).toMatchObject([{ input: { notes: `note ${odd}` } }]);
  expect(listed.trimEnd()).not.toMatch(/\p{Cc}|\p{Cf}|\p{Zl}/u);
});

it('what the owner of the machine does in the shell is not asked for', async () => {
  const app = await ways({ sites: 1 });
  await app.rules({ preset: 'strict' });
  expect(await app.app.call('add-tag', { name: 'shops' }, { actor: SHELL })).toMatchObject({ name: 'shops' });
});
