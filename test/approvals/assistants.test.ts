/** What an assistant has logged in with cannot approve, whichever process set it. */

import { expect, it } from 'vitest';
import { cheapHash } from '../support/cheap-hash.js';
import { connect } from '../support/mcp-clients.js';
import { ACCEPT, INITIALIZE } from '../support/mcp-messages.js';
import { PASSWORD, SHELL, ways } from './client.js';

it('a password that another process has set is marked again when an assistant uses it', async () => {
  const app = await ways({ sites: 1 });
  await app.rules({ preset: 'careful' });
  const name = await app.user(['read', 'write', 'approve']);
  const key = await app.key();
  const { id: tag } = await app.app.call('add-tag', { name: 'shops' }, { actor: SHELL });
  const { approval_id } = (await key(`DELETE /tags/${tag}/remove`)).body.data;
  const overMcp = async (password: string) => {
    const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    const driver = await connect(['2025-11-25', 'http'], { ...app.target, authorization });
    expect((await driver.call('svc-list-tags-v1')).isError).not.toBe(true);
    await driver.close();
  };
  const approve = async () => (await app.page(name))(`POST /approvals/${approval_id}/approve`);

  await overMcp(PASSWORD);
  expect((await approve()).status).toBe(403);
  // Another process knows nothing of the logins that this one remembers.
  await app.app.service.store.users.change(name, { password_hash: cheapHash('another long password') });
  await overMcp('another long password');
  const refused = await approve();
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('An assistant has logged in')]);
  // One that no assistant has used makes a person of the user again.
  await app.app.service.store.users.change(name, { password_hash: cheapHash('a third long password') });
  expect((await approve()).status).toBe(200);
});

it('what may approve is not let in over MCP while it cannot be stored that an assistant uses it', async () => {
  const app = await ways({ sites: 1 });
  await app.rules({ preset: 'careful' });
  const approver = await app.key({ approves: true });
  const person = await app.user(['read', 'write', 'approve']);
  const plain = await app.key();
  const { id: tag } = await app.app.call('add-tag', { name: 'shops' }, { actor: SHELL });
  const { approval_id } = (await plain(`DELETE /tags/${tag}/remove`)).body.data;
  const begin = async (authorization: string) => {
    const headers = { ...ACCEPT, authorization };
    const reply = await fetch(app.url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) });
    await reply.text();
    return reply.status;
  };
  const logins = [
    `Bearer ${approver.token}`,
    `Basic ${Buffer.from(`${person}:${PASSWORD}`).toString('base64')}`,
    `Bearer ${plain.token}`,
  ];
  const statuses = (of: readonly string[]) => Promise.all(of.map(begin));
  const { db } = app.app;
  for (const table of ['api_key', 'user'])
    await db.run(
      `CREATE TRIGGER no_mark_${table} BEFORE UPDATE OF assistant_at ON ${table} BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );
  // Also a second call that comes while the first one is being noted.
  expect(await statuses([...logins, ...logins])).toEqual([503, 503, 200, 503, 503, 200]);
  expect(await statuses(logins)).toEqual([503, 503, 200]);
  for (const table of ['api_key', 'user']) await db.run(`DROP TRIGGER no_mark_${table}`);
  expect(await statuses(logins)).toEqual([200, 200, 200]);
  for (const ask of [approver, await app.page(person)])
    expect((await ask(`POST /approvals/${approval_id}/approve`)).status).toBe(403);
});
