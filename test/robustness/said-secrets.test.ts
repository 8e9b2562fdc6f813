/** A site that sends back the secrets it was sent, in all it says: they are in no answer and not in the database. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { beforeAll, expect, it } from 'vitest';
import { listenLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';
import { type McpApp, mcpApp } from '../support/mcp-clients.js';

const PASS = 'Zx9&"<pw>ü/ Geheim77';
const UNIQUE = 'uniq-Sekret-4242';
const ADMIN = `Adm'n<&">Passw0rt`;
const USER = 'preview';
const LOGIN = Buffer.from(`${USER}:${PASS}`).toString('base64');

type Says = (response: ServerResponse, parts: readonly string[]) => void;

const framed = (answer: object) => `<mainwp>${Buffer.from(JSON.stringify(answer)).toString('base64')}</mainwp>`;
const escaped = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
const error =
  (change: (text: string) => string): Says =>
  (response, parts) =>
    void response.end(framed({ error: `Refused: ${parts.map(change).join(' | ')}.` }));

const WAYS: Record<string, Says> = {
  plain: error((text) => text),
  'in HTML': error(escaped),
  'in JSON': error((text) => JSON.stringify(text)),
  'percent-encoded': error((text) => encodeURIComponent(text)),
  'percent-encoded in small letters': error((text) => encodeURIComponent(text).toLowerCase()),
  'with signs nobody sees': error((text) => [...text].join('\u200b')),
  'with slashes': error((text) => text.replace(/['"\\]/g, '\\$&')),
  'as its code': (response, parts) => void response.end(framed({ error: 'No.', error_code: parts[1] })),
  'as the path of a redirect': (response, parts) => {
    const path = parts.map(encodeURIComponent).join('/');
    response.writeHead(302, { location: `http://127.0.0.1:9/moved/${path}/wp-admin/admin-ajax.php` }).end();
  },
  'as the host of a redirect': (response, parts) =>
    void response.writeHead(302, { location: `http://${(parts[1] ?? 'x').replace(/[^\w-]/g, '')}.example/` }).end(),
};

let mcp: McpApp;
let url = '';
let says: Says;
let token = '';

/** All that a call was sent, as a site would find it. */
function partsOf(request: IncomingMessage, body: string): string[] {
  const { authorization = '' } = request.headers;
  const login = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  const form = new URLSearchParams(body);
  const password = decodeURIComponent(form.get('userpwd') ?? '');
  return [login, form.get('uniqueId') ?? 'none', password, authorization].filter((part) => part !== '');
}

beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2 });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const asked = body.includes('function=stats') && !body.includes('nonce=');
      // Not connected yet: the registration follows.
      if (asked) response.end(framed({ version: '6.1', wpversion: '7.1.4' }));
      else says(response, partsOf(request, body));
    });
  });
  url = `${(await listenLocally(server)).url}/`;
  ({ token } = await newKey(mcp.app.service.store.keys, { scope: 'read_write' }));
  const login = { http_user: USER, http_pass: PASS };
  expect(await ask('PUT', '/sites/1/edit', login)).toContain('"success":1');
  await mcp.app.db.run('UPDATE site SET url = ? WHERE id = 1', [url]);
});

async function ask(method: string, path: string, body?: object): Promise<string> {
  const http = await mcp.app.service.http();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return await (await http.request(`http://127.0.0.1:8787/v2${path}`, sent)).text();
}

/** Every text in the database that is not sealed. */
async function stored(): Promise<string> {
  const tables = await mcp.app.db.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
  const rows = await Promise.all(tables.map(({ name }) => mcp.app.db.all(`SELECT * FROM "${name}"`)));
  return rows
    .flat()
    .flatMap((row) => Object.values(row))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)))
    .join('\n');
}

/** What gives a secret away: parts of it that no encoding changes. */
const TELLING = ['Geheim77', 'Sekret-4242', 'Passw0rt', LOGIN.slice(4, 24)];
const told = (text: string) => {
  const plain = text.replace(/[\u200b]|\\u200b/g, '').toLowerCase();
  return TELLING.filter((part) => plain.includes(part.toLowerCase()));
};

it.each(Object.keys(WAYS))('%s', async (way) => {
  says = WAYS[way] as Says;
  await mcp.app.db.run("UPDATE site SET sync_error = '', disconnected = 0 WHERE id = 1");
  const added = {
    url,
    admin: 'boss',
    admin_password: ADMIN,
    http_user: USER,
    http_pass: PASS,
  };
  // An address of its own, as that of a stored site is refused.
  const other = { ...added, url: `${url}other/` };
  const answers = [
    await ask('POST', '/sites/1/sync', {}),
    await ask('GET', '/sites/1'),
    await ask('GET', '/fleet/attention'),
    await ask('POST', '/sites/add', { ...other, uniqueid: UNIQUE }),
    await ask('POST', '/sites/batch', { create: [{ ...other, uniqueid: UNIQUE }], sync: [1] }),
    JSON.stringify(await mcp.app.call('add-site', { ...other, unique_id: UNIQUE }).catch((e: Error) => [e.message, e])),
  ];
  // What is said arrives, as far as it is no secret.
  if (way === 'plain') expect(answers[0]).toMatch(/The site says: .{0,4}Refused: preview:\(hidden\)/);
  if (way === 'plain') expect(answers[3]).toMatch(/The site says: .{0,4}Refused: preview:\(hidden\) \| \(hidden\)/);
  expect(answers.map(told)).toEqual(answers.map(() => []));
  expect(told(await stored())).toEqual([]);
});

it.each([
  ['not one of a few letters, which any text has', 'abc', '', 'abc: a bad cab', /a bad cab/],
  ['not what the address has, which is none', 'Shop', 'shop/', 'the shop is closed', /the shop is closed/],
  ['not in what the protocol says', 'ERROR3', '', 'REG_ERROR3', /requires its unique security ID/],
])('hides %s', async (_, http_pass, path, error, shown) => {
  says = (response) => void response.end(framed({ error }));
  const site = { url: `${url}${path}`, admin: 'boss', http_user: USER, http_pass };
  expect(await ask('POST', '/sites/add', site)).toMatch(shown);
});
