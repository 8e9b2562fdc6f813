/** The engine thread as shipped: when it dies, the next call starts a new one; how it ends. Needs the built program. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWriter } from '../../bench/lib/database.js';
import { tempFolder, tracked } from '../support/cleanup.js';
import { builtProgram } from '../support/processes/built-program.js';
import { program as programOf } from '../support/processes/program.js';

/** Code of a thread: writes the file, then is in a query of native code for many seconds. */
const atWork = (busy: string) => `{
  const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve('libsql'))});
  const query = new Database(':memory:').prepare(
    'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000) SELECT count(*) FROM n');
  require('node:fs').writeFileSync(${JSON.stringify(busy)}, '');
  query.all();
}`;

/** The server on a database in the folder, with `mine` loaded first in each of its threads. */
function serve(program: string, mine: string, folder: string) {
  return tracked(
    spawn(process.execPath, ['--require', mine, program, 'serve', '--port', '0', '--json'], {
      env: {
        ...process.env,
        SITEFLEET_DB: `file:${join(folder, 'fleet.db')}`,
        SITEFLEET_LOG_LEVEL: 'silent',
        NODE_OPTIONS: '',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
}

it('comes back after it died, and what is not under way then works', async () => {
  const program = await builtProgram();
  const folder = tempFolder('engine');
  const mine = join(folder, 'dies-once.cjs');
  // The first engine thread of the process throws on demand; later ones live.
  writeFileSync(
    mine,
    `const { isMainThread } = require('node:worker_threads'); const { existsSync, writeFileSync } = require('node:fs');
     const [mark, told] = ${JSON.stringify([join(folder, 'died'), join(folder, 'die')])};
     if (!isMainThread && !existsSync(mark)) setInterval(() => {
       if (existsSync(told)) { writeFileSync(mark, ''); throw new Error('boom'); }
     }, 20);`,
  );
  const child = serve(program, mine, folder);
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { v2, api_key } = JSON.parse(line.toString('utf8')) as { v2: string; api_key: string };
    const addTag = async (name: string) => {
      const response = await fetch(`${v2}/tags/add`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      return response.status;
    };
    // Only now: a thread that dies while starting prevents the service from starting at all.
    writeFileSync(join(folder, 'die'), '');
    await expect.poll(() => existsSync(join(folder, 'died'))).toBe(true);
    let tries = 0;
    await expect.poll(() => addTag(`after ${++tries}`), { interval: 100 }).toBe(200);
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }
});

it('reads for the serving thread what would hold it up with a large fleet', async () => {
  const program = await builtProgram();
  const folder = tempFolder('engine-reads');
  const db = await openWriter(`file:${join(folder, 'fleet.db')}`);
  const text = (what: string) => `'https://s' || value || '.example/' AS ${what}`;
  await db.run(`INSERT INTO site (id, url, url_key, name, search, created_at)
    SELECT value, ${text('url')}, ${text('url_key')}, 'Site', 'site', 0 FROM generate_series(1, 1001)`);
  await db.run('INSERT INTO site_detail (site_id) SELECT id FROM site');
  await db.close();
  const [mine, main, engine] = ['watch.cjs', 'main', 'engine'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  // Each thread leaves a mark when it counts sites by whether they have a backup, for which it looks at each of them.
  writeFileSync(
    mine,
    `const { isMainThread } = require('node:worker_threads');
     const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve('libsql'))});
     const { prepare } = Database.prototype;
     Database.prototype.prepare = function (sql) {
       if (sql.includes('iif(d.last_backup')) require('node:fs').writeFileSync(isMainThread ? ${JSON.stringify(main)} : ${JSON.stringify(engine)}, '');
       return prepare.call(this, sql);
     };`,
  );
  const child = serve(program, mine, folder);
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { abilities, user, password } = JSON.parse(line.toString('utf8')) as Record<string, string>;
    const answer = await fetch(`${abilities}/svc/search-fleet-v1/run?input[group_by]=backup`, {
      headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
    });
    expect(await answer.json()).toMatchObject({ groups: [{ value: 'unknown', count: 1001 }], total: 1001 });
    expect([main, engine].map((mark) => existsSync(mark))).toEqual([false, true]);
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }
});

describe('a thread that is in native code', () => {
  // Ending it there would abort the process: its code returns into a thread that is gone.
  it('and does not end in time ends with its process', async () => {
    const folder = tempFolder('engine-late');
    const [thread, busy] = [join(folder, 'thread.cjs'), join(folder, 'busy')];
    writeFileSync(thread, atWork(busy));
    const child = await (await programOf('engine-ends')).start({ thread, busy });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  });

  it('ends with its process at a second signal to stop', async () => {
    const program = await builtProgram();
    const folder = tempFolder('engine-stop');
    const [mine, told, busy] = ['works.cjs', 'told', 'busy'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(
      mine,
      `if (!require('node:worker_threads').isMainThread) setInterval(() => {
         if (require('node:fs').existsSync(${JSON.stringify(told)})) ${atWork(busy)}
       }, 20);`,
    );
    const child = serve(program, mine, folder);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    writeFileSync(told, '');
    await expect.poll(() => existsSync(busy)).toBe(true);
    // Signals soon after the first are the same request.
    const again = setInterval(() => child.kill('SIGTERM'), 100);
    expect(await ended).toEqual([null, 'SIGTERM']);
    clearInterval(again);
  });
});
