/** What an assistant has logged in with cannot approve, whichever process set it. */

import { expect, it } from 'vitest';
import { cheapHash } from '../support/cheap-hash.js';
import { connect } from '../support/mcp-clients.js';
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
