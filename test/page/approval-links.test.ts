/** The alert of a change that waits: its link leads to the login of the page, and following it decides nothing. */

import { beforeAll, describe, expect, it } from 'vitest';
import { deliverAlerts } from '../../src/domain/alerts/deliveries.js';
import { sendMail } from '../../src/domain/alerts/mail/mail.js';
import { editMail } from '../../src/domain/alerts/mail/settings.js';
import { type Ways, ways } from '../approvals/client.js';
import { SYSTEM } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { type Receiver, receiver } from '../support/receiver.js';
import { type Mailbox, mailbox } from '../support/smtp.js';
import { builtPage, logIn, PASSWORD, type ServedPage, servePage } from './browser.js';

describe('the alert of a change that waits', needs('chromium'), () => {
  let app: Ways;
  let served: ServedPage;
  let mails: Mailbox;
  let chat: Receiver;
  let approval_id: string;
  beforeAll(async () => {
    mails = await mailbox();
    chat = await receiver();
    const config = { smtp_url: mails.url };
    app = await ways({ sites: 1, connected: 1, jobs: false, pageFolder: await builtPage(), config });
    served = await servePage(app.app);
    const slack = { type: 'slack', name: 'Chat', url: `${chat.url}/hook` };
    expect((await (await app.key())('POST /alerts/recipients/add', slack)).status).toBe(200);
    await app.rules({ preset: 'careful' });
    const ctx = app.app.ctx({ actor: SYSTEM });
    await editMail(ctx, 'approval', { recipients: ['ada@example.com'] });
    const { id } = await app.app.call('add-tag', { name: 'Shops' });
    const key = await app.key();
    approval_id = (await key(`DELETE /tags/${id}/remove`)).body.data.approval_id;
    expect(await sendMail(ctx)).toBe('1 sent, 0 not');
    await deliverAlerts(ctx);
  });

  const state = async () => {
    const [row] = await app.app.db.all('SELECT state FROM approval WHERE id = ?', [approval_id]);
    return row?.state;
  };

  it('has the link in the mail and in the chat', () => {
    const link = `${served.url}/approvals`;
    const [mail] = mails.mails;
    expect(mail?.headers.subject).toContain('Delete a tag');
    expect(mail?.text).toContain(`View the request: ${link}`);
    expect(mail?.html).toContain(`href="${link}"`);
    expect(JSON.stringify(chat.received.map(({ body }) => body))).toContain(link);
  });

  it('approves nothing when a scanner of mails follows it, and asks people to log in', async () => {
    const [, link = ''] = /href="([^"]*\/approvals)"/.exec(mails.mails[0]?.html ?? '') ?? [];
    for (const method of ['GET', 'HEAD'])
      for (const address of [link, `${link}/${approval_id}`, `${served.url}/v2/approvals/${approval_id}/approve`])
        await fetch(address, { method, headers: { Accept: 'text/html' }, redirect: 'follow' });
    expect(await state()).toBe('waiting');
    const context = await served.browser.newContext();
    const page = await context.newPage();
    await page.setContent(mails.mails[0]?.html ?? '');
    await page.getByRole('link', { name: 'View the request' }).click();
    await page.getByLabel('Password').waitFor();
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    await logIn(page, await served.user(['read', 'approve']), PASSWORD);
    await page.getByRole('button', { name: 'Approve: Delete a tag' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/approvals');
    expect(await state()).toBe('waiting');
    await context.close();
  });
});
