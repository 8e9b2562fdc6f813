/** `serve` as a process: which modules it loads, and when it reports being ready. */

import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { firstStartOf } from '../../src/cli/first-start.js';
import { readConfig } from '../../src/runtime/config/config.js';
import { openDb } from '../../src/store/driver/open.js';
import { endProcess, freePort, tempFolder } from '../support/cleanup.js';
import { programInModules } from '../support/processes/built-program.js';
import { type Commands, commands } from '../support/processes/commands.js';
import { basic } from '../support/surfaces.js';

let programs: Commands;
let fleets: Commands;
let folder: string;
beforeAll(async () => {
  [programs, fleets] = await Promise.all([commands(programInModules()), commands()]);
  folder = tempFolder('served');
});

const settings = (name: string) => ({
  SITEFLEET_DB: `file:${join(folder, `${name}.db`)}`,
  SITEFLEET_SECRET_KEY_FILE: join(folder, `${name}.key`),
  SITEFLEET_ALLOW_PRIVATE_SITES: '1',
  SITEFLEET_LOG_LEVEL: 'warn',
});

describe('serve', () => {
  it('is ready only once its first user and key exist', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...settings('ready'),
      SITEFLEET_ADMIN_USER: 'ada',
      SITEFLEET_ADMIN_PASSWORD: 'correct horse battery',
    };
    let over = false;
    const serving = programs.serve(env, [], port).finally(() => {
      over = true;
    });
    const reasons = new Set<string>();
    for (;;) {
      const reply = await fetch(`${url}/readyz`).catch(() => undefined);
      if (reply?.status === 200) break;
      const said = (await reply?.json()) as { reasons: string[] } | undefined;
      for (const reason of said?.reasons ?? []) reasons.add(reason);
      if (over) await serving;
      await pause(5);
    }
    const headers = { authorization: basic('ada', 'correct horse battery') };
    expect((await fetch(`${url}/abilities/svc/count-sites-v1/run`, { headers })).status).toBe(200);
    // A busy machine may also be slow to write.
    for (const reason of reasons)
      expect(reason).toMatch(/^(The first login has not been created yet|Writing to the database takes)/);
    const { child, said } = await serving;
    expect(said.api_key).toMatch(/==/);
    expect(await endProcess(child)).toBe(0);
  });

  it('says how to log in while the first login was stored and not shown, and nothing once somebody has', async () => {
    const env = settings('unseen');
    const hint = 'sitefleet login-link';
    // As a process does that is killed before it shows them.
    await firstStartOf(readConfig({ ...env, HOME: folder }), Date.now());
    const first = await programs.serve(env);
    expect(first.said).toMatchObject({ user: null, password: null });
    await expect.poll(first.errors).toContain(hint);
    const link = JSON.parse((await programs.run(env, ['login-link', '--json'])).out).login_link as string;
    expect(link).toMatch(/^http/);
    expect(await endProcess(first.child)).toBe(0);
    const db = await openDb(env.SITEFLEET_DB);
    await db.run(
      "INSERT INTO web_session (id, token_hash, user_id, created_at, rotated_at, used_at) SELECT 'a', 'b', id, 1, 1, 1 FROM user",
    );
    await db.close();
    const second = await programs.serve(env);
    expect(await endProcess(second.child)).toBe(0);
    expect(second.errors()).not.toContain(hint);
    // One that was shown is not mentioned again.
    const other = settings('seen');
    for (const user of ['admin', null]) {
      const { child, said, errors } = await programs.serve(other);
      expect(said).toMatchObject({ user });
      expect(await endProcess(child)).toBe(0);
      expect(errors()).not.toContain(hint);
    }
  });

  it('loads nothing for a request: with its files gone, every way in answers', async () => {
    const fleet = await fleets.fleet({ sites: 1, seed: 3, password: 'secret' });
    const { child, said, errors } = await programs.serve(settings('loaded'));
    const aside = join(programs.folder, 'aside');
    mkdirSync(aside);
    const files = readdirSync(programs.folder).filter((file) => file.endsWith('.js'));
    for (const file of files) renameSync(join(programs.folder, file), join(aside, file));
    try {
      const login = basic(said.user ?? '', said.password ?? '');
      const key = `Bearer ${said.api_key}`;
      const ask = async (path: string, authorization: string, body?: object, more = {}) => {
        const headers = { authorization, 'content-type': 'application/json', ...more };
        const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
        const reply = await fetch(`${said.url}${path}`, init);
        return [path, reply.status, reply.status === 200 ? '' : await reply.text()];
      };
      const fine = (path: string) => [path, 200, ''];
      const [site] = fleet.said.sites;
      const added = { url: site?.url, admin: site?.admin, admin_password: site?.password, unique_id: site?.unique_id };
      const run = (name: string) => `/abilities/svc/${name}-v1/run`;
      expect(await ask('/v2/tags/add', key, { name: 'first' })).toEqual(fine('/v2/tags/add'));
      expect(await ask('/v2/sites', key)).toEqual(fine('/v2/sites'));
      expect(await ask(run('add-site'), login, { input: added })).toEqual(fine(run('add-site')));
      expect(await ask(run('sync-sites'), login, { input: {} })).toEqual(fine(run('sync-sites')));
      expect(await ask(run('list-sites'), login)).toEqual(fine(run('list-sites')));
      for (const path of [
        '/',
        '/docs',
        '/docs/openapi.json',
        '/v2/openapi.json',
        '/healthz',
        '/readyz',
        '/metrics',
        '/abilities',
      ])
        expect(await ask(path, login)).toEqual(fine(path));
      const accept = 'application/json, text/event-stream';
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
      expect(
        await ask('/mcp', key, { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }, { accept }),
      ).toEqual(fine('/mcp'));
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta } };
      const modern = { accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
      expect(await ask('/mcp', key, list, modern)).toEqual(fine('/mcp'));
      // The check of the database file is not a request: its thread is loaded for each round, and retried. Neither is
      // the start.
      const problems = errors()
        .split('\n')
        .filter((line) => line !== '' && !/could not be checked|No one would receive an alert/.test(line));
      expect(problems).toEqual([]);
      expect(await endProcess(child)).toBe(0);
    } finally {
      for (const file of files) renameSync(join(aside, file), join(programs.folder, file));
    }
  });
});
