/**
 * The shell for users: the list of operations, their help, tables, Ctrl-C, the end of a job, doctor, completion, a test
 * alert.
 */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleOf, operationHelp, shellWord } from '../../src/cli/operation-help.js';
import { type Fleet, startFleet } from '../../src/demo/fleet.js';
import { openDb } from '../../src/store/driver/open.js';
import { createJobs } from '../../src/store/jobs/jobs.js';
import { operations } from '../../tools/index.js';
import { closing, tempFolder } from '../support/cleanup.js';
import { needs } from '../support/needs.js';
import { type Commands, commands } from '../support/processes/commands.js';
import { type Receiver, receiver } from '../support/receiver.js';
import { entry, feedText } from '../vulnerabilities/feed.js';

let programs: Commands;
let fleet: Fleet;
let box: Receiver;
const folder = tempFolder('shell');
const db = `file:${join(folder, 'fleet.db')}`;
const env = {
  SITEFLEET_DB: db,
  SITEFLEET_ALLOW_PRIVATE_SITES: '1',
  SITEFLEET_LOG_LEVEL: 'fatal',
};

beforeAll(async () => {
  [programs, fleet, box] = await Promise.all([
    commands(),
    startFleet({ sites: 2, seed: 7, password: 'secret' }),
    receiver(),
  ]);
  closing(fleet);
  for (const i of [0, 1]) {
    const { url, admin, password, uniqueId } = fleet.site(i);
    const input = JSON.stringify({ url, admin, admin_password: password, unique_id: uniqueId });
    expect(await programs.run(env, ['call', 'add-site', '-'], input)).toMatchObject({ code: 0, err: '' });
  }
});

describe('operations', () => {
  it('are listed, each with an example that its schema takes', async () => {
    const { out, code } = await programs.run(env, ['ops', '--json']);
    const listed = JSON.parse(out) as { id: string; example: unknown }[];
    expect([code, listed.map(({ id }) => id)]).toEqual([0, operations.map(({ id }) => id)]);
    for (const [index, { id, example }] of listed.entries())
      expect([id, operations[index]?.parse(example) !== undefined]).toEqual([id, true]);
    const plain = (await programs.run(env, ['ops'])).out.trimEnd().split('\n');
    expect(plain).toHaveLength(operations.length);
    expect(plain[0]).toBe('list-sites-v1\tsites\treads\tList sites');
  });

  it('say what they take, every field of it', async () => {
    const { out, code } = await programs.run(env, ['call', 'update-site-plugins', '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/site_id_or_domain +integer\|string +required/);
    expect(out).toContain(`sitefleet call update-site-plugins-v1 '{"site_id_or_domain":"example.com"}'`);
    for (const operation of operations) {
      const help = operationHelp(operation);
      for (const name of Object.keys(operation.input().shape)) expect(help).toContain(`  ${name} `);
      expect(help).toContain(shellWord(JSON.stringify(exampleOf(operation))));
      // Readable on a terminal: a long list of words stands at the end of its line.
      for (const line of help.split('\n').filter((line) => line.startsWith('  ')))
        expect(line.lastIndexOf('  ')).toBeLessThan(120);
    }
    const example = (name: string) => exampleOf(operations.find(({ id }) => id === `svc/${name}-v1`) as never);
    expect(example('build-report')).toEqual({ site_id_or_domain: 'example.com' });
    expect(Object.keys(example('roll-back'))).toEqual(['change_id']);
    // Examples of deletions are previews.
    expect(exampleOf(operations.find(({ id }) => id === 'svc/delete-site-v1') as never)).toMatchObject({
      dry_run: true,
    });
    expect((await programs.run(env, ['call', '--help'])).out).toContain('Usage: sitefleet call');
    const unknown = await programs.run(env, ['call', 'list-sitse', '--help']);
    expect([unknown.code, unknown.out]).toEqual([1, '']);
    expect(unknown.err).toContain('list-sites-v1');
    expect(await programs.run(env, ['call'])).toMatchObject({ code: 1, out: '' });
  });

  it('answer lists as tables where they are wanted, and JSON to programs', async () => {
    const { out } = await programs.run(env, ['call', 'list-sites', '--table']);
    const [head = '', first = '', , , ...rest] = out.split('\n');
    expect(head).toMatch(/^id +url +name +status/);
    expect(first).toMatch(new RegExp(`^1 +${fleet.site(0).url}`));
    expect(rest.join('\n')).toContain('total: 2');
    expect(JSON.parse((await programs.run(env, ['call', 'list-sites'])).out)).toMatchObject({ total: 2 });
  });

  it('tell at Ctrl-C which sites were done', async () => {
    fleet.site(1).faults.hang = true;
    const reader = await openDb(db, { mode: 'reader' });
    const synced = async () => (await reader.one('SELECT last_sync AS at FROM site_detail WHERE site_id = 1'))?.at ?? 0;
    try {
      let err = '';
      // Only the process knows when it is done with the site whose sync it has stored: until it is, the wait doubles.
      for (let ms = 50; err === '' || err.includes('Done      none'); ms *= 2) {
        const before = await synced();
        const { child, ended } = programs.begin(env, ['call', 'sync-sites', '{"site_ids_or_domains":[1,2]}']);
        while ((await synced()) === before) await pause(20);
        await pause(ms);
        child.kill('SIGINT');
        const { code, out, ...said } = await ended;
        expect([code, out]).toEqual([1, '']);
        ({ err } = said);
      }
      expect(err).toContain('Stopped.\n  Done      1\n  Failed    none\n  Not done  2\n');
      expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        code: 'svc_cancelled',
        data: { sites: { done: [1], failed: [], not_done: [2] } },
      });
    } finally {
      delete fleet.site(1).faults.hang;
      await reader.close();
    }
  });
});

it('jobs cancel ends a job, once', async () => {
  const writer = await openDb(db, { mode: 'writer' });
  const now = Date.now();
  await createJobs(writer).add(
    {
      id: 'sync_1',
      type: 'sync',
      params: {},
      sites: [1, 2],
      begun: false,
      refused: [],
      chunk: 1,
      delay_ms: 0,
      timeout_ms: 60_000,
      next_run_at: now + 3_600_000,
    },
    now,
  );
  await writer.close();
  const { out, code } = await programs.run(env, ['jobs', 'cancel', 'sync_1', '--json']);
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    {
      status: 'failed',
      succeeded: 0,
      failed: 2,
      errors: [
        { site_id: 1, code: 'svc_cancelled' },
        { site_id: 2, code: 'svc_cancelled' },
      ],
    },
  ]);
  const again = await programs.run(env, ['jobs', 'cancel', 'sync_1']);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('The job has ended: failed.')]);
  expect((await programs.run(env, ['jobs', 'cancel', 'sync_2'])).err).toContain('There is no job with this id');
});

describe('doctor', () => {
  const findings = async (more: Record<string, string> = {}, args: string[] = []) => {
    const { out, code } = await programs.run({ ...env, ...more }, ['doctor', '--json', ...args]);
    const listed = JSON.parse(out) as { what: string; status: string; detail: string }[];
    return { code, of: (what: string) => listed.find((one) => one.what === what) };
  };

  it('looks at the database, the key, mail, the clock and a site', async () => {
    const { code, of } = await findings();
    expect(code).toBe(0);
    expect(of('Database')).toMatchObject({ status: 'ok' });
    expect(of('Key')?.detail).toMatch(/opens all [1-9]\d* secrets/);
    expect(of('Mail')).toMatchObject({ status: 'warn', detail: expect.stringContaining('SITEFLEET_SMTP_URL') });
    expect(of('Alerts')?.detail).toContain('No one would receive an alert');
    expect(of('Feed')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('SITEFLEET_VULNERABILITY_FEED'),
    });
    expect(of('Site')).toMatchObject({ status: 'ok', detail: expect.stringContaining(fleet.site(0).url) });
    expect(of('Clock')).toMatchObject({ status: 'ok' });
  });

  it('fails for what keeps it from working', async () => {
    const wrong = await findings({
      SITEFLEET_SECRET_KEY: 'ab'.repeat(32),
      SITEFLEET_SMTP_URL: 'smtp://u:p@127.0.0.1:9',
    });
    expect(wrong.code).toBe(1);
    expect(wrong.of('Key')).toMatchObject({ status: 'fail', detail: expect.stringContaining('does not open') });
    expect(wrong.of('Mail')).toMatchObject({
      status: 'fail',
      detail: '127.0.0.1:9: The mail server could not be reached.',
    });
    const { of } = await findings({ SITEFLEET_DB: `file:${join(folder, 'none.db')}` });
    expect(of('Database')).toMatchObject({ status: 'fail', detail: expect.stringContaining('There is no database') });
    fleet.site(0).faults.offline = true;
    expect((await findings({}, ['--site', '1'])).of('Site')).toMatchObject({ status: 'fail' });
    delete fleet.site(0).faults.offline;
    expect((await findings({}, ['--site', 'nowhere'])).of('Site')).toMatchObject({ status: 'fail' });
  });
});

describe('vulnerabilities', () => {
  it('reads the feed at once, tells what came of it, and doctor how old it is', async () => {
    const feed = join(folder, 'feed.json');
    writeFileSync(
      feed,
      feedText([1, 2, 3].map((n) => entry(n, { slug: `box-${n}`, affected: [['*', true, '*', true]] }))),
    );
    const more = { ...env, SITEFLEET_VULNERABILITY_FEED: feed };
    const refresh = (...args: string[]) => programs.run(more, ['vulnerabilities', 'refresh', ...args]);
    const first = await refresh('--json');
    expect(JSON.parse(first.out)).toMatchObject({
      outcome: 'read',
      message: '3 entries, 3 new or changed, 0 gone',
      checked_at: expect.stringMatching(/Z$/),
      note: null,
    });
    expect(await refresh()).toMatchObject({ code: 0, out: 'nothing new\n' });
    const { out } = await programs.run(more, ['doctor', '--json']);
    expect(JSON.parse(out)).toContainEqual({
      what: 'Feed',
      status: 'ok',
      detail: expect.stringMatching(/^3 known vulnerabilities, as of 20.*Z$/),
    });
    writeFileSync(feed, feedText([entry(1, { slug: 'box-1', affected: [] })]));
    const shorter = await refresh();
    expect([shorter.code, shorter.out]).toEqual([1, expect.stringContaining('--accept-shorter')]);
    expect(await refresh('--accept-shorter')).toMatchObject({ code: 0, out: '1 entries, 1 new or changed, 2 gone\n' });
    expect(await programs.run(env, ['vulnerabilities', 'refresh'])).toMatchObject({ code: 1 });
  });
});

describe('completion', () => {
  describe.each(['bash', 'zsh', 'fish'] as const)('of %s', (shell) => {
    it('has all commands', async () => {
      const { out, code } = await programs.run(env, ['completion', shell]);
      expect(code).toBe(0);
      for (const word of ['serve', 'outbox', 'list-sites-v1']) expect(out).toContain(word);
    });

    it('is a script that this shell can read', needs(shell), async () => {
      const file = join(folder, `completion.${shell}`);
      writeFileSync(file, (await programs.run(env, ['completion', shell])).out);
      execFileSync(shell, [shell === 'fish' ? '--no-execute' : '-n', file]);
    });
  });

  it('completes commands, their options and operations', needs('bash'), async () => {
    const { out } = await programs.run(env, ['completion', 'bash']);
    const complete = (...words: string[]) => {
      const line = ['sitefleet', ...words].map((word) => `'${word}'`).join(' ');
      const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _sitefleet; echo "\${COMPREPLY[*]}"`;
      return execFileSync('bash', ['-c', `${out}\n${ask}`], { encoding: 'utf8' }).trim();
    };
    expect(complete('jobs', '')).toBe('list watch cancel help');
    expect(complete('serve', '--p')).toBe('--port');
    expect(complete('call', 'count-s')).toBe('count-sites-v1');
    expect(complete('import', 'main')).toBe('mainwp');
    expect(complete('import', 'file', '--d')).toBe('--dry-run');
  });
});

it('alert test reaches all recipients, and fails when it does not reach one, or there are none', async () => {
  const silent = await programs.run(env, ['alert', 'test']);
  expect([silent.code, silent.err]).toEqual([1, expect.stringContaining('No one would receive an alert')]);
  const served = await programs.serve({ ...env, SITEFLEET_LOG_LEVEL: 'warn' });
  expect(served.errors()).toContain('No one would receive an alert');
  const add = await fetch(`${served.said.v2}/alerts/recipients/add`, {
    method: 'POST',
    headers: { authorization: `Bearer ${served.said.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'slack', name: 'Team', url: `${box.url}/hook` }),
  });
  expect(add.status).toBe(200);
  const told = await programs.run(env, ['alert', 'test', '--json', '--kind', 'domain.expired']);
  expect([told.code, JSON.parse(told.out)]).toEqual([
    0,
    [{ recipient_id: 1, recipient: 'Team', type: 'slack', delivered: true, error: '' }],
  ]);
  expect(box.received[0]?.body.text).toContain('Test: example.com');
  box.answer(403);
  expect((await programs.run(env, ['alert', 'test'])).code).toBe(1);
  expect((await programs.run(env, ['alert', 'list'])).out).toContain('1\tTeam\tslack\tall\tall');
});
