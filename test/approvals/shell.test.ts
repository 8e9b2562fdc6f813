/** Approving in the shell, by a process that knows nothing of the one that was asked: the request outlives both. */

import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { decide, listRequests, rules } from '../../src/cli/approvals.js';
import { setCommand } from '../../src/cli/current-command.js';
import { tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/config.js';
import { SHELL, ways } from './client.js';

const config = testConfig({ db: `file:${join(tempFolder('approvals'), 'fleet.db')}` });

/** What a command prints as JSON. */
async function printed(command: () => Promise<void>) {
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  try {
    setCommand({ name: 'sitefleet approvals', arguments: [] });
    await command();
  } finally {
    write.mockRestore();
  }
  return JSON.parse(lines.join(''));
}

it('a request outlives the process that was asked, and its approval the one that gave it', async () => {
  const first = await ways({ sites: 1, realClock: true, config });
  const { id } = await first.app.call('add-tag', { name: 'shops' });
  const { token } = await first.key();
  expect(await printed(() => rules(config, 'careful', { json: true }))).toMatchObject({ preset: 'careful' });
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

it('what the owner of the machine does in the shell is not asked for', async () => {
  const app = await ways({ sites: 1 });
  await app.rules({ preset: 'strict' });
  expect(await app.app.call('add-tag', { name: 'shops' }, { actor: SHELL })).toMatchObject({ name: 'shops' });
});
