/**
 * Edge cases of the commands: stopped at once, nowhere to write, a failing start, a client that reads nothing or writes
 * nonsense.
 */

import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { assertReplaceable, assertWritable } from '../../src/cli/file-access.js';
import { localActor } from '../../src/cli/local-actor.js';
import { serveStdio } from '../../src/surfaces/mcp/stdio.js';
import { endProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp } from '../support/harness.js';
import { INITIALIZE } from '../support/mcp-messages.js';
import { type Commands, commands } from '../support/processes/commands.js';

const folder = tempFolder('edges');
let programs: Commands;
/** The program as a checkout starts it. */
let built: Commands;
beforeAll(async () => {
  programs = await commands();
  built = await commands(resolve('dist', 'src'));
});
const environment = (name: string, more: Record<string, string> = {}) => ({
  XDG_DATA_HOME: join(folder, name),
  SITEFLEET_LOG_LEVEL: 'warn',
  ...more,
});

describe('asked to end before anything was opened', () => {
  it.each(['stdio', 'serve', 'work'])('%s ends with 0 and has made nothing', async (command) => {
    // It arrives as soon as the process listens for it. A signal of the system may take any time.
    const preload = join(folder, 'asks-at-once.cjs');
    writeFileSync(
      preload,
      `process.on('newListener', function hear(name) {
         if (name !== 'SIGTERM') return;
         process.off('newListener', hear);
         process.nextTick(() => process.emit('SIGTERM', 'SIGTERM'));
       });`,
    );
    const env = environment(`early-${command}`, { NODE_OPTIONS: `--require ${preload}`, SITEFLEET_PORT: '0' });
    const { code, signal, out } = await built.run(env, [command]);
    expect({ code, signal, out }).toEqual({ code: 0, signal: null, out: '' });
    expect(existsSync(env.XDG_DATA_HOME)).toBe(false);
  });

  it('other commands are cut, and do not claim to have done it', async () => {
    const preload = join(folder, 'asks-at-exit.cjs');
    writeFileSync(preload, `setImmediate(() => process.kill(process.pid, 'SIGTERM'));`);
    const env = environment('cut', { NODE_OPTIONS: `--require ${preload}` });
    expect(await programs.run(env, ['migrate'])).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

describe('nowhere to write', () => {
  it.each([
    ['SITEFLEET_DB', (file: string) => ({ SITEFLEET_DB: `file:${file}/sub/fleet.db` })],
    ['SITEFLEET_DB', (file: string) => ({ XDG_DATA_HOME: join(file, 'data') })],
    ['SITEFLEET_SECRET_KEY_FILE', (file: string) => ({ SITEFLEET_SECRET_KEY_FILE: join(file, 'key') })],
  ])('every command names %s and what to do', async (setting, settings) => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    for (const command of ['serve', 'work', 'migrate', 'stdio']) {
      const env = { ...environment('nowhere', { SITEFLEET_PORT: '0' }), ...settings(file) };
      const greeting = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const call = { name: 'svc-list-sites-v1', arguments: {} };
      const lines = [
        { id: 0, method: 'initialize', params: greeting },
        { id: 1, method: 'tools/call', params: call },
      ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const { code, out, err } = await programs.run(env, [command], command === 'stdio' ? lines.join('') : '');
      // The assistant's user can fix it, but sees no log.
      if (command === 'stdio')
        expect(out).toMatch(
          new RegExp(
            `svc_storage_unavailable: The .* cannot be kept in .*Next step: Allow this user to write there, .*${setting}`,
          ),
        );
      expect([command, code]).toEqual([command, 1]);
      expect(err).toContain('a part of the path is not a folder');
      expect(err).toContain(`Allow this user to write there, or name another file with ${setting}.`);
    }
  });

  it('is judged by what the system says of that very file', () => {
    expect(() => assertWritable({ db: `file:${folder}`, secret_key_file: null })).toThrow('that is a folder');
    expect(() =>
      assertWritable({ db: `file:${join(folder, 'new', 'fleet.db')}`, secret_key_file: null }),
    ).not.toThrow();
    expect(existsSync(join(folder, 'new'))).toBe(false);
    expect(() => assertWritable({ db: 'http://127.0.0.1:9', secret_key_file: null })).not.toThrow();
    // Nothing can be created there, not even by root.
    const closed = process.platform === 'linux' ? '/proc/sys' : '/';
    expect(() => assertWritable({ db: `file:${join(closed, 'fleet.db')}`, secret_key_file: null })).toThrow(
      /this user cannot write there|the disk is mounted read-only/,
    );
    const fixed = process.platform === 'linux' ? '/proc/sys/kernel/ostype' : '/';
    expect(() => assertReplaceable(fixed, 'key file')).toThrow(
      /cannot be replaced: (this user cannot write there|the disk is mounted read-only)\. Nothing was changed/,
    );
  });
});

describe('a first start that fails', () => {
  it('leaves no login that was never shown', async () => {
    // The port is free when checked, and taken when needed.
    const preload = join(folder, 'takes-the-port.cjs');
    writeFileSync(
      preload,
      `const net = require('node:net'); const listen = net.Server.prototype.listen; let times = 0;
       net.Server.prototype.listen = function (...args) {
         if (++times !== 2) return listen.apply(this, args);
         setImmediate(() => this.emit('error', Object.assign(new Error('taken'), { code: 'EADDRINUSE' })));
         return this;
       };`,
    );
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    holder.close();
    const env = environment('failing');
    const failing = { ...env, SITEFLEET_PORT: String(port), NODE_OPTIONS: `--require ${preload}` };
    const { code, out, err } = await programs.run(failing, ['serve', '--json']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('another program is listening there');
    const { child, said } = await programs.serve(env);
    expect(said).toMatchObject({ user: 'admin', password: expect.any(String), api_key: expect.any(String) });
    expect(await endProcess(child)).toBe(0);
  });
});

describe('stdio', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ sites: 1, jobs: false });
  });

  /** What waits for calls or for a client to read waits for longer than a test may take. */
  const drainMs = 3_600_000;
  async function session(stdout: Writable) {
    const stdin = new PassThrough();
    const stop = new AbortController();
    const core = await app.service.mcp();
    const done = serveStdio({ core, actor: localActor('mcp'), signal: stop.signal, stdin, stdout, drainMs });
    const say = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return { stdin, stop, done, say };
  }
  const initialize = { ...INITIALIZE, id: 0 };
  const modern = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    },
  };

  it.each([
    ['of 2025', initialize],
    ['of 2026-07-28', { id: 0, method: 'tools/list', params: modern }],
  ])('tells a client %s that a line is no JSON, and goes on', async (_era, first) => {
    const stdout = new PassThrough();
    const { stdin, done, say } = await session(stdout);
    let out = '';
    stdout.on('data', (chunk) => (out += String(chunk)));
    say(first);
    stdin.write('{"jsonrpc": "2.0", \n');
    say({ id: 1, method: 'tools/list', params: first === initialize ? {} : modern });
    stdin.end();
    await done;
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number | null; error?: { code: number } });
    expect(answers).toHaveLength(3);
    expect(answers.find(({ id }) => id === null)).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } });
    expect(answers.filter(({ error }) => error === undefined).map(({ id }) => id)).toEqual([0, 1]);
  });

  it('answers batches, junk and endless lines as errors, and goes on', async () => {
    const stdout = new PassThrough();
    const { stdin, done, say } = await session(stdout);
    let out = '';
    stdout.on('data', (chunk) => (out += String(chunk)));
    const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
    const odd: [line: string, id: number | null, code: number, words: RegExp][] = [
      ['{]', null, -32700, /not valid JSON/],
      ['hello', null, -32700, /not valid JSON/],
      [JSON.stringify([ping, { ...ping, id: 8 }]), null, -32600, /batch/],
      ['[]', null, -32600, /batch/],
      ['42', null, -32600, /not a JSON-RPC/],
      ['null', null, -32600, /not a JSON-RPC/],
      ['{"id":3,"method":"ping"}', 3, -32600, /not a JSON-RPC/],
      ['{"jsonrpc":"2.0","id":4,"method":5}', 4, -32600, /not a JSON-RPC/],
      ['{"jsonrpc":"2.0","id":5,"method":"ping","params":7}', 5, -32600, /not a JSON-RPC/],
      [
        `{"jsonrpc":"2.0","id":6,"method":"ping","params":{"x":"${'x'.repeat(11 * 1024 * 1024)}"}}`,
        null,
        -32600,
        /longer/,
      ],
    ];
    // Before and after the greeting.
    for (const [line] of odd.slice(0, 5)) stdin.write(`${line}\n`);
    say(initialize);
    for (const [line] of odd.slice(5)) stdin.write(`${line}\n`);
    say({ id: 9, method: 'ping' });
    stdin.end();
    await done;
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number | null; error?: { code: number; message: string } });
    const errors = answers.filter(({ error }) => error !== undefined);
    expect(errors.map(({ id, error }) => [id, error?.code])).toEqual(odd.map(([, id, code]) => [id, code]));
    for (const [index, [, , , words]] of odd.entries()) expect(errors[index]?.error?.message).toMatch(words);
    expect(answers.filter(({ error }) => error === undefined).map(({ id }) => id)).toEqual([0, 9]);
  });

  it('logs failed calls to a client that asks for it, and to no other', async () => {
    for (const [level, told] of [
      [undefined, 0],
      ['info', 1],
      ['error', 0],
    ] as const) {
      const stdout = new PassThrough();
      const { stdin, done, say } = await session(stdout);
      let out = '';
      stdout.on('data', (chunk) => (out += String(chunk)));
      say(initialize);
      if (level !== undefined) say({ id: 1, method: 'logging/setLevel', params: { level } });
      say({ id: 2, method: 'tools/call', params: { name: 'svc-get-site-v1', arguments: { site_id_or_domain: 99 } } });
      stdin.end();
      await done;
      const messages = out.split('\n').filter((line) => line.includes('notifications/message'));
      expect([level, messages.length]).toEqual([level, told]);
      if (told > 0)
        expect(JSON.parse(messages[0] ?? '').params).toEqual({
          level: 'warning',
          logger: 'sitefleet',
          data: { tool: 'svc-get-site-v1', code: 'svc_site_not_found' },
        });
    }
  });

  it('does not complain about a client that reads nothing, and ends without it', async () => {
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.message);
    process.on('warning', hear);
    const full = new Writable({ highWaterMark: 1, write: () => undefined });
    // If it waited for the client to read, this test would not end.
    const { stdin, done, say } = await session(full);
    say(initialize);
    for (let id = 1; id <= 30; id++) say({ id, method: 'ping' });
    await expect.poll(() => full.listenerCount('drain')).toBeGreaterThan(10);
    full.emit('error', new Error('EPIPE'));
    await done;
    stdin.destroy();
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });
});

describe('the bare address', () => {
  it('leads browsers to the page and programs to the ways in', async () => {
    const pageFolder = tempFolder('page');
    writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>Sitefleet</title>');
    const app = await testApp({ sites: 1, jobs: false, pageFolder });
    const http = await app.service.http();
    const ask = (accept: string) => http.request('http://127.0.0.1:8787/', { headers: { accept } });
    const page = await ask('text/html,application/xhtml+xml,*/*;q=0.8');
    expect([page.status, await page.text()]).toEqual([200, '<!doctype html><title>Sitefleet</title>']);
    expect((await http.request('http://127.0.0.1:8787/docs')).status).toBe(200);
    const answer = await ask('*/*');
    expect(answer.status).toBe(200);
    const ways = (await answer.json()) as Record<string, string>;
    expect(ways).toMatchObject({ name: 'sitefleet', v2: 'http://127.0.0.1:8787/v2' });
    expect((await http.request(String(ways.openapi))).status).toBe(200);
    expect((await http.request('http://127.0.0.1:8787/', { method: 'POST' })).status).toBe(405);
  });
});
