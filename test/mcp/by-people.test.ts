/** Asked for what only people do, `search-operations` names the page on which they do it. */

import { expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import { SEARCH_OPERATIONS } from '../../src/surfaces/mcp/lean.js';
import { createToolRegistry } from '../../src/surfaces/mcp/registry.js';
import { operations } from '../../tools/index.js';
import { connect, LOCAL, mcpApp, textOf } from '../support/mcp-clients.js';
import { silent } from '../support/surfaces.js';

/** Page and question. */
const QUESTIONS = `
/access | create an API key for the backup script
/access | revoke a key
/access | invite a colleague to the dashboard
/access | reset the password of a Sitefleet user
/approvals | change the rules of approval
/approvals | approve request apr_1 myself
/policies | create a policy that updates plugins at night
/policies | turn on automatic updates
/settings | who gets alert mails, add a recipient
/settings | set up the SMTP server
/settings | change the backup settings
/settings | set the time zone of the dashboard
/settings | send outages to Slack
/reports | schedule a report by mail each month
`
  .trim()
  .split('\n')
  .map((line) => line.split(' | ') as [path: string, question: string]);

const registry = createToolRegistry({
  operations,
  invoke: () => Promise.reject(new Error('not called')),
  log: silent,
  clock: systemClock,
  readOnly: false,
  toolsets: null,
  pageUrl: () => 'https://fleet.example',
});

it.each(QUESTIONS)('%s: %s', async (path, query) => {
  const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };
  const result = await registry.callTool(SEARCH_OPERATIONS, { query }, caller as never);
  expect(result).toMatchObject({
    structuredContent: {
      operations: [],
      total: 0,
      note: expect.stringMatching(
        new RegExp(`^No operation does this: a person does it on the page\\. .* https://fleet\\.example${path}$`),
      ),
    },
  });
});

it('is said over MCP with the address of this service, which has the page', async () => {
  const mcp = await mcpApp({ sites: 1 });
  const client = await connect(['2026-07-28', 'http'], { ...mcp.target, url: `${mcp.url}?toolsets=lean` });
  const result = await client.call(SEARCH_OPERATIONS, { query: 'make a new API key' });
  const url = /https?:\S+$/.exec(String((result.structuredContent as { note?: string }).note))?.[0] ?? '';
  expect([textOf(result), new URL(url).pathname]).toEqual([expect.stringContaining('“Access”'), '/access']);
});

it.each([
  'list administrators of all sites',
  'which administrators are there',
  'who are the admins of my sites',
  'show all users of every site',
  'which sites have the admin user bob',
])('says of users that they are not stored, and what tells a part of it: %s', async (query) => {
  const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };
  const result = await registry.callTool(SEARCH_OPERATIONS, { query }, caller as never);
  expect(result).toMatchObject({
    structuredContent: {
      note: expect.stringMatching(
        /^No operation lists the users of all sites: .* is not stored\. svc-compare-sites-v1 /,
      ),
      operations: [{ operation: 'svc-compare-sites-v1' }, { operation: 'svc-search-changes-v1' }],
      total: 2,
    },
  });
});

it.each([
  'which sites got a new administrator',
  'admin users changed',
  'list new administrators',
  'reset the password of a site',
])('does not take another question for it: %s', async (query) => {
  const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };
  const result = (await registry.callTool(SEARCH_OPERATIONS, { query }, caller as never)) as {
    structuredContent: { note?: string };
  };
  expect(result.structuredContent.note ?? '').not.toContain('users of all sites');
});
