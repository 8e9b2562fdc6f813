/** The shell on a libSQL server: what `check` and `doctor` find out about it, and what processes warn of. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { FAKETIME } from '../support/faketime.js';
import { INITIALIZE } from '../support/mcp-messages.js';
import { needs } from '../support/needs.js';
import { type Commands, commands } from '../support/processes/commands.js';
import { pause } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';

const ADD_TAG = {
  jsonrpc: '2.0',
  id: 'add',
  method: 'tools/call',
  params: { name: 'svc-add-tag-v1', arguments: { name: 'two' } },
};

describe('the shell on a server', needs('sqld'), () => {
  let programs: Commands;
  const servers: Sqld[] = [];
  const home = tempFolder('on-a-server');

  beforeAll(async () => {
    programs = await commands();
  });
  afterEach(async () => {
    await programs.close();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  afterAll(() => programs.close());

  async function onServer(settings: Record<string, string> = {}) {
    const server = await startSqld(settings);
    servers.push(server);
    const env = {
      SITEFLEET_DB: `http://${server.host}`,
      SITEFLEET_SECRET_KEY: 'cd'.repeat(32),
      SITEFLEET_LOG_LEVEL: 'warn',
      XDG_DATA_HOME: home,
    };
    expect(await programs.run(env, ['call', 'add-tag', '{"name":"one"}'])).toMatchObject({ code: 0 });
    const doctor = async () => {
      const { out } = await programs.run(env, ['doctor', '--json']);
      return (JSON.parse(out) as { what: string; status: string; detail: string }[]).find(
        ({ what }) => what === 'Server',
      );
    };
    return { server, env, doctor };
  }

  it('checks its data there, and finds a row that points to nothing', async () => {
    const { env, server } = await onServer();
    const check = async () => JSON.parse((await programs.run(env, ['check', '--json'])).out);
    expect(await check()).toMatchObject({ ok: true, integrity: ['ok'], foreign_keys: 0 });
    const broken = await fetch(`http://${server.host}/v2/pipeline`, {
      method: 'POST',
      body: JSON.stringify({
        requests: ['PRAGMA foreign_keys=OFF', 'INSERT INTO site_tag (site_id, tag_id) VALUES (4711, 1)'].map((sql) => ({
          type: 'execute',
          stmt: { sql },
        })),
      }),
    });
    const { results } = (await broken.json()) as { results: { type: string }[] };
    expect(results.map(({ type }) => type)).toEqual(['ok', 'ok']);
    expect(await check()).toMatchObject({ ok: false, integrity: ['ok'], foreign_keys: 1 });
  });

  it('lets no process with another clock share it', needs('faketime'), async () => {
    const { env } = await onServer();
    const other = (clock: string) => ({
      ...env,
      LD_PRELOAD: FAKETIME ?? '',
      FAKETIME: clock,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    for (const [clock, said] of [
      ['+1d', /The clock of this machine is 86[34]\d\d s ahead of that of the storage server/],
      ['-1h', /The clock of this machine is 3[56]\d\d s behind that of the storage server/],
    ] as const) {
      for (const command of [['work'], ['serve', '--port', '0'], ['call', 'add-tag', '{"name":"two"}']])
        expect(await programs.run(other(clock), command)).toMatchObject({ code: 1, err: expect.stringMatching(said) });
      const lines = [INITIALIZE, { jsonrpc: '2.0', method: 'notifications/initialized' }, ADD_TAG].map((line) =>
        JSON.stringify(line),
      );
      const stdio = await programs.run(other(clock), ['stdio'], `${lines.join('\n')}\n`);
      expect(stdio.out + stdio.err).toMatch(said);
      const { out } = await programs.run(other(clock), ['doctor', '--json']);
      expect(JSON.parse(out)).toContainEqual({ what: 'Clock', status: 'fail', detail: expect.stringMatching(said) });
    }
    const tags = JSON.parse((await programs.run(env, ['call', 'list-tags', '--json'])).out);
    expect(tags.items.map(({ name }: { name: string }) => name)).toEqual(['one']);
  });

  it('warns where so many processes write that the server may stop accepting writes', async () => {
    const { env, doctor } = await onServer();
    expect(await doctor()).toMatchObject({ status: 'ok' });
    const workers = Array.from({ length: 3 }, () => programs.begin(env, ['work']));
    await expect
      .poll(doctor, { interval: 500 })
      .toMatchObject({ status: 'warn', detail: expect.stringMatching(/--checkpoint-interval-s.* Processes now: 3\./) });
    const fourth = programs.begin(env, ['work', '--json']);
    let said = '';
    fourth.child.stderr?.on('data', (chunk) => (said += String(chunk)));
    await expect.poll(() => said).toContain('Processes now: 4.');
    for (const { child } of [fourth, ...workers]) child.kill('SIGTERM');
    expect((await fourth.ended).err).toMatch(/--checkpoint-interval-s 10.* Processes now: 4\./);
  });

  it('does not warn where The server makes checkpoints at intervals.', async () => {
    const { env, doctor } = await onServer({ SQLD_CHECKPOINT_INTERVAL_S: '10' });
    const workers = Array.from({ length: 3 }, () => programs.begin(env, ['work', '--json']));
    await Promise.all(workers.map(({ child }) => new Promise((ready) => child.stdout?.once('data', ready))));
    expect(await doctor()).toEqual({
      what: 'Server',
      status: 'ok',
      detail: 'The server makes checkpoints at intervals.',
    });
    await pause(500);
    for (const { child } of workers) child.kill('SIGTERM');
    for (const { ended } of workers) expect((await ended).err).not.toContain('checkpoint');
  });
});
