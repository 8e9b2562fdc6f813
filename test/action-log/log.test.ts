/** The action log: every change is in it, in the transaction of the change, and nothing in it can be changed unseen. */

import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { storedActions } from '../../src/domain/action-log/list.js';
import { verifyLog } from '../../src/domain/action-log/verify.js';
import { digestMail, digestOf } from '../../src/domain/alerts/mail/digest.js';
import { deleteExpired } from '../../src/domain/retention/delete-expired.js';
import type { Row } from '../../src/store/driver/db.js';
import { estimateTokens } from '../../src/surfaces/mcp/token-estimate.js';
import { type RestApp, restApp } from '../rest/client.js';
import { turnsOf } from '../support/turns.js';

const DAY_MS = 86_400_000;
/** Columns in the order in which SECURITY.md says they are hashed. */
const HASHED =
  'at actor_type actor_id actor via client operation request_id site_id context action slug name detail old_version new_version code input fields undoes'.split(
    ' ',
  );

let app: RestApp;
beforeEach(async () => {
  app = await restApp({
    sites: 2,
    jobs: false,
    config: { modules: [], log_days: 30 },
    fleet: { password: 'giraffe-55' },
  });
});

const rows = () => app.db.all<Row>('SELECT * FROM action_log ORDER BY id');
const calls = async () => (await rows()).filter(({ context }) => context === 'call');
const agent = { 'user-agent': 'billing-script 2.1' };

describe('the list of actions, asked for one operation', () => {
  it('takes its name in every form that answers show, and says when nothing ever had it', async () => {
    const { id } = await app.call('add-tag', { name: 'Shops' });
    await app.call('delete-tag', { tag_id: id, confirm: true });
    const idsOf = async (operation: string) => {
      const { actions, total } = await app.call('list-actions', { operation });
      const rest = await app.rest(`GET /actions?operation=${encodeURIComponent(operation)}`);
      expect(rest.body.data.map((one: Row) => one.id)).toEqual(actions.map((one: Row) => one.id));
      expect(total).toBe(actions.length);
      return actions.map((one: Row) => one.id);
    };
    const expected = (await rows()).filter(({ operation }) => operation === 'svc/delete-tag-v1').map((row) => row.id);
    expect(expected.length).toBeGreaterThan(1);
    for (const name of ['svc/delete-tag-v1', 'svc-delete-tag-v1', 'delete-tag', 'svc/delete-tag', 'Delete-Tag-v1'])
      expect([name, (await idsOf(name)).sort()]).toEqual([name, expected]);
    await app.rest('POST /tags/add', { body: { name: 'Blogs' } });
    expect(await idsOf('POST /tags/add')).toHaveLength(2);
    for (const unknown of ['delete-tags', 'svc-remove-tag-v1']) {
      const none = await app.call('list-actions', { operation: unknown });
      expect(none).toMatchObject({ total: 0, note: expect.stringContaining('svc/delete-tag-v1') });
      const rest = await app.rest(`GET /actions?operation=${unknown}`);
      expect(rest.body).toMatchObject({ total: 0, note: expect.stringContaining('svc/delete-tag-v1') });
    }
    expect(await app.call('list-actions', { operation: 'svc/delete-tag-v1', until: '2020-01-01' })).not.toHaveProperty(
      'note',
    );
  });
});

describe('a call that changes something', () => {
  it('is logged with who made it, how, and what was asked for', async () => {
    const { body } = await app.rest('POST /tags/add', { body: { name: 'Shops', color: '#ff0000' }, headers: agent });
    expect(body.success).toBe(1);
    const [call, done] = await rows();
    expect(call).toMatchObject({
      id: 1,
      at: app.clock.now(),
      actor_type: 'key',
      actor: 'read_write',
      via: 'rest',
      client: 'billing-script 2.1',
      operation: 'POST /tags/add',
      request_id: 'request-1',
      context: 'call',
      action: 'called',
      code: '',
      previous: '',
    });
    expect(JSON.parse(String(call?.input))).toEqual({ name: 'Shops', color: '#ff0000' });
    expect(done).toMatchObject({ id: 2, context: 'tag', action: 'created', name: 'Shops', request_id: 'request-1' });
  });

  it('has its entry in the same transaction: at most one write more', async () => {
    const before = app.db.counts.calls;
    await app.call('add-tag', { name: 'One' });
    const first = app.db.counts.calls - before;
    const { db } = app;
    // The names of the objects and the entry of what was done follow, as before.
    expect(first).toBeLessThanOrEqual(5);
    expect(await db.all('SELECT name FROM tag')).toHaveLength(1);
  });

  it('is refused while the log cannot be written, and changes nothing', async () => {
    const id = await app.connect(0);
    const plugin = app.fleet.site(0).state.plugins.find(({ active, mustUse }) => active && !mustUse);
    await app.db.run("CREATE TRIGGER no_room BEFORE INSERT ON action_log BEGIN SELECT RAISE(ABORT, 'no room'); END");
    const before = await app.db.one('SELECT count(*) AS n FROM tag');
    expect((await app.rest('POST /tags/add', { body: { name: 'Shops' } })).status).toBeGreaterThanOrEqual(500);
    await app.fail('add-tag', { name: 'Shops' });
    await app.fail('add-client', { name: 'Ada', client_email: 'ada@example.com' });
    expect(await app.db.one('SELECT count(*) AS n FROM tag')).toEqual(before);
    expect(await app.db.one('SELECT count(*) AS n FROM client')).toEqual({ n: 0 });
    // Nothing is sent to a site either.
    const asked = await app
      .call('deactivate-site-plugins', { site_id_or_domain: id, slugs: [plugin?.slug] })
      .catch((error: unknown) => error);
    expect(JSON.stringify(asked)).not.toContain('"deactivated":["');
    expect(plugin?.active).toBe(true);
    await app.db.run('DROP TRIGGER no_room');
    expect((await verifyLog(app.ctx())).valid).toBe(true);
    expect((await app.rest('POST /tags/add', { body: { name: 'Shops' } })).status).toBe(200);
  });

  it('has no secret of its input in the log', async () => {
    await app.rest('POST /users', { body: { name: 'eve', right: 'read', password: 'correct horse battery staple' } });
    await app
      .call('add-site', {
        url: app.fleet.site(0).url,
        admin: app.fleet.site(0).admin,
        admin_password: app.fleet.site(0).password,
        http_user: 'u',
        http_pass: 'zebra-crossing-77',
        unique_id: 'platypus-88',
      })
      .catch(() => undefined);
    await app.rest('PUT /settings/api-backups/digitalocean/edit', { body: { 'secrets.api_key': 'walrus-99' } });
    await app.rest('POST /alerts/recipients/add', {
      body: { type: 'slack', name: 'Chat', url: 'https://hooks.slack.example/services/T00/B00/lemur-66' },
    });
    for (const url of [
      'https:hooks.slack.example/lemur-66',
      'https:\\\\hooks.slack.example\\lemur-66',
      'https://hooks.slack.example\t/lemur-66',
      'HTTPS:hooks.slack.example?lemur-66',
    ])
      await app.rest('POST /alerts/recipients/add', { body: { type: 'slack', name: url.slice(0, 7), url } });
    await app.call('add-site', { url: 'https://u:ocelot-44@127.0.0.1:1/', admin: 'a' }).catch(() => undefined);
    await app.rest('POST /costs/add', { body: { name: 'Host', url: 'https://u:p@ocelot-44@host.example/' } });
    const text = JSON.stringify(await rows());
    expect(text).toContain('hooks.slack.example/[redacted]');
    for (const secret of [
      'correct horse',
      'giraffe-55',
      'lemur-66',
      'ocelot-44',
      'zebra-crossing-77',
      'platypus-88',
      'walrus-99',
    ])
      expect(text).not.toContain(secret);
    expect(text).toContain('[redacted]');
  });

  it('that contacts sites is logged before it sends anything, and how it ended', async () => {
    const id = await app.connect(0);
    const plugin = app.fleet.site(0).state.plugins.find(({ active, mustUse }) => active && !mustUse);
    await app.call('deactivate-site-plugins', { site_id_or_domain: id, slugs: [plugin?.slug] });
    const [called, ended] = (await calls()).slice(-2);
    expect(called).toMatchObject({ action: 'called', operation: 'svc/deactivate-site-plugins-v1' });
    expect(ended).toMatchObject({ action: 'ended', operation: 'svc/deactivate-site-plugins-v1', code: '' });
    const after = (await rows()).filter(({ id: row }) => Number(row) > Number(called?.id));
    expect(after.map(({ context, action }) => `${context} ${action}`)).toEqual(['plugin deactivated', 'call ended']);
  });

  it('is not logged when it only reads, previews, or is refused before it changes anything', async () => {
    const { id } = await app.call('add-tag', { name: 'One' });
    const before = (await rows()).length;
    await app.call('list-tags');
    await app.call('delete-tag', { tag_id: id, dry_run: true });
    await app.fail('delete-tag', { tag_id: id });
    await app.fail('add-tag', { name: 'One', colour: 'x' });
    await app.rest('GET /tags');
    expect(await rows()).toHaveLength(before);
  });

  it('is told once in lists of changes: what was called is not one of them', async () => {
    const logs = await restApp({ sites: 1, jobs: false });
    await logs.rest('POST /tags/add', { body: { name: 'Shops' } });
    const { body } = await logs.rest('GET /fleet/changes');
    expect(body.data.map(({ kind }: { kind: string }) => kind)).toEqual(['tag']);
  });
});

/** The hash of a row, from what the documents say. */
function expectedHash(row: Row): string {
  const text = JSON.stringify([row.previous, row.id, ...HASHED.map((name) => row[name])]);
  return createHash('sha256').update(text).digest('hex');
}

describe('the chain', () => {
  const fill = async () => {
    const id = await app.connect(0);
    for (const name of ['One', 'Two', 'Three']) await app.call('add-tag', { name });
    await app.call('update-site', { site_id_or_domain: id, name: 'Renamed' });
    await app.fail('add-tag', { name: 'One' });
  };
  /** Someone with the file of the database. */
  const intrude = async () => {
    for (const name of ['action_log_final', 'action_log_kept', 'action_log_chained'])
      await app.db.run(`DROP TRIGGER ${name}`);
  };

  it('links each row to the one before, without gaps', async () => {
    await fill();
    const all = await rows();
    expect(all.length).toBeGreaterThan(8);
    for (const [index, row] of all.entries()) {
      expect(row.id).toBe(index + 1);
      expect(row.previous).toBe(all[index - 1]?.hash ?? '');
      expect(row.hash).toBe(expectedHash(row));
    }
    const verdict = await verifyLog(app.ctx());
    expect(verdict).toMatchObject({ valid: true, problem: null, rows: all.length });
    expect(verdict.head).toEqual({ id: all.length, hash: all.at(-1)?.hash });
  });

  it('refuses changes and deletions', async () => {
    await fill();
    await expect(app.db.run("UPDATE action_log SET actor = 'nobody'")).rejects.toThrow('never changed');
    await expect(app.db.run('DELETE FROM action_log WHERE id = 2')).rejects.toThrow('signed checkpoint');
    await expect(
      app.db.run(
        "INSERT INTO action_log (at, context, action, name, previous, hash) VALUES (1, 'x', 'y', 'z', '', '')",
      ),
    ).rejects.toThrow('action_log_moved');
  });

  it('shows a change of any column of any row', async () => {
    await fill();
    await intrude();
    const all = await rows();
    for (const row of all) {
      for (const [column, value] of Object.entries(row)) {
        const other = typeof value === 'number' ? value + 100_000 : value === null ? 7 : `${value}x`;
        await app.db.run(`UPDATE action_log SET ${column} = ? WHERE id = ?`, [other, row.id as number]);
        const verdict = await verifyLog(app.ctx());
        expect(verdict.valid, `${column} of row ${row.id}`).toBe(false);
        expect(verdict.problem).not.toBeNull();
        const at = column === 'id' ? Number(other) : Number(row.id);
        await app.db.run(`UPDATE action_log SET ${column} = ? WHERE id = ?`, [value as string, at]);
      }
    }
    expect((await verifyLog(app.ctx())).valid).toBe(true);
  });

  it('is verified, exported and listed in turns, which leave room for other work', async () => {
    const ctx = app.ctx();
    const entry = { site_id: null, context: 'call', action: 'called', at: 1, input: 'x'.repeat(4000) };
    for (let i = 0; i < 4; i++) await ctx.store.actionLog.add(Array.from({ length: 500 }, () => entry));
    const all = (await rows()).length;
    expect(await turnsOf(() => verifyLog(ctx))).toBeGreaterThan(all / 300);
    let exported = 0;
    expect(
      await turnsOf(async () => {
        exported = (await storedActions(ctx, 0, 10_000)).length;
      }),
    ).toBeGreaterThan(exported / 300);
    // No answer has more than a few megabytes.
    expect(exported).toBeLessThan(1500);
    expect(exported).toBeGreaterThan(900);
  });

  it('is verified one at a time, and not for everyone who asks at once', async () => {
    await fill();
    const replies = await Promise.all(Array.from({ length: 60 }, () => app.rest('GET /actions/verify')));
    const by = (status: number) => replies.filter((reply) => reply.status === status);
    expect(by(200).length + by(429).length).toBe(60);
    expect(by(200).length).toBeGreaterThan(0);
    // One that reads the log, and those that wait for it.
    expect(by(200).length).toBeLessThanOrEqual(11);
    expect(by(429)[0]?.body).toMatchObject({ code: 'svc_rest_too_many_requests', data: { retry_after: 30 } });
    expect((await app.rest('GET /actions/verify')).status).toBe(200);
  });

  it('is whole although it grows while it is read', async () => {
    await fill();
    const ctx = app.ctx();
    const rowsAfter: typeof ctx.store.actionLog.rowsAfter = async (id, limit) => {
      const page = await ctx.store.actionLog.rowsAfter(id, limit);
      await app.call('add-tag', { name: `While ${id} was read` });
      return page;
    };
    const growing = { ...ctx, store: { ...ctx.store, actionLog: { ...ctx.store.actionLog, rowsAfter } } };
    expect(await verifyLog(growing)).toMatchObject({ valid: true, problem: null });
  });

  it('shows a missing row, and a tail that was cut off', async () => {
    await fill();
    await intrude();
    const all = await rows();
    for (const row of all) {
      await app.db.run('DELETE FROM action_log WHERE id = ?', [row.id as number]);
      expect(await verifyLog(app.ctx()), `without row ${row.id}`).toMatchObject({ valid: false, at_id: row.id });
      const names = Object.keys(row);
      await app.db.run(
        `INSERT INTO action_log (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        names.map((name) => row[name] as string),
      );
    }
    const noted = { id: Number(all.at(-1)?.id), hash: String(all.at(-1)?.hash) };
    // Someone who also knows where SQLite counts.
    await app.db.run('DELETE FROM action_log WHERE id > ?', [noted.id - 3]);
    await app.db.run("UPDATE sqlite_sequence SET seq = ? WHERE name = 'action_log'", [noted.id - 3]);
    expect((await verifyLog(app.ctx())).valid).toBe(true);
    expect(await verifyLog(app.ctx(), noted)).toMatchObject({ valid: false, at_id: noted.id });
  });

  it('is pruned from the front only, up to a checkpoint that this installation signed', async () => {
    await fill();
    const old = (await rows()).length;
    app.clock.move(40 * DAY_MS);
    await app.call('add-tag', { name: 'New' });
    const head = (await rows()).at(-1);
    await deleteExpired(app.ctx());
    const left = await rows();
    expect(Number(left[0]?.id)).toBe(old + 1);
    expect(await verifyLog(app.ctx())).toMatchObject({ valid: true, pruned_through: old });
    expect((await verifyLog(app.ctx(), { id: Number(head?.id), hash: String(head?.hash) })).valid).toBe(true);
    // The next entries go on from there, also when nothing is left.
    app.clock.move(40 * DAY_MS);
    await deleteExpired(app.ctx());
    await deleteExpired(app.ctx());
    await app.call('add-tag', { name: 'Newer' });
    expect(await verifyLog(app.ctx())).toMatchObject({ valid: true });
    // A checkpoint of someone else's hides rows no better than their absence.
    const [first] = await rows();
    await intrude();
    await app.db.run('UPDATE action_log_checkpoint SET through = ?, hash = ?', [
      first?.id as number,
      first?.hash as string,
    ]);
    await app.db.run('DELETE FROM action_log WHERE id = ?', [first?.id as number]);
    expect(await verifyLog(app.ctx())).toMatchObject({ valid: false, problem: expect.stringContaining('not signed') });
  });

  it('rewritten as a whole, while the service runs, is found only by the head that brief and digest have named', async () => {
    await fill();
    const { log_head } = await app.call('get-fleet-brief');
    const ctx = app.ctx();
    const { text } = digestMail(
      await digestOf(ctx, 0, { zone: 'UTC', page: null }),
      { subject: '', heading: '', recipients: [] },
      { zone: 'UTC', page: null },
    );
    const [, id = '', hash = ''] = /^(\d+):([0-9a-f]{64})$/.exec(log_head) ?? [];
    const noted = { id: Number(id), hash };
    expect(text).toContain(log_head);
    const triggers = await app.db.all<Row>(
      "SELECT name, sql FROM sqlite_master WHERE name LIKE 'action_log_%' AND type = 'trigger'",
    );
    for (const { name } of triggers) await app.db.run(`DROP TRIGGER ${name}`);
    let previous = '';
    for (const row of await rows()) {
      const forged = { ...row, previous, actor: 'somebody else' };
      previous = expectedHash(forged);
      await app.db.run('UPDATE action_log SET actor = ?, previous = ?, hash = ? WHERE id = ?', [
        forged.actor,
        forged.previous,
        previous,
        row.id as number,
      ]);
    }
    for (const { sql } of triggers) await app.db.run(String(sql));
    // The service goes on from what it finds.
    await app.call('add-tag', { name: 'Afterwards' });
    expect(await verifyLog(app.ctx())).toMatchObject({ valid: true, pruned_through: 0 });
    const caught = {
      valid: false,
      at_id: noted.id,
      problem: expect.stringContaining('or is no longer, the one with the hash'),
    };
    expect(await verifyLog(app.ctx(), noted)).toMatchObject(caught);
    const { data } = (await app.rest(`GET /actions/verify?id=${noted.id}&hash=${noted.hash}`)).body;
    expect(data).toMatchObject(caught);
  });

  it('rewritten after pruning does not match its checkpoint, whose signature cannot be forged', async () => {
    await fill();
    app.clock.move(40 * DAY_MS);
    for (const name of ['New', 'Newer']) await app.call('add-tag', { name });
    await deleteExpired(app.ctx());
    const [checkpoint] = await app.db.all<Row>('SELECT * FROM action_log_checkpoint');
    const kept = await rows();
    expect(kept[0]?.previous).toBe(checkpoint?.hash);
    await intrude();
    // Every member of the checkpoint is signed.
    const others = {
      through: Number(checkpoint?.through) - 1,
      hash: 'f'.repeat(64),
      at: 1,
      signature: 'AAAA',
      public_key: 'AAAA',
    };
    for (const [member, other] of Object.entries(others)) {
      await app.db.run(`UPDATE action_log_checkpoint SET ${member} = ?`, [other]);
      expect([member, (await verifyLog(app.ctx())).valid]).toEqual([member, false]);
      await app.db.run(`UPDATE action_log_checkpoint SET ${member} = ?`, [checkpoint?.[member] as string]);
    }
    expect((await verifyLog(app.ctx())).valid).toBe(true);
    // Without it, and with a beginning of one's own.
    await app.db.run('DELETE FROM action_log_checkpoint');
    expect(await verifyLog(app.ctx())).toMatchObject({ valid: false, problem: expect.stringContaining('are missing') });
  });

  it('continues across processes that append at once', async () => {
    // Another process has a head of its own, which is old once this one has appended.
    await app.call('add-tag', { name: 'One' });
    await app.db.run(
      `INSERT INTO action_log (id, at, context, action, name, previous, hash)
       SELECT id + 1, 1, 'tag', 'created', 'Other', hash, 'f00d' FROM action_log_head`,
    );
    await app.call('add-tag', { name: 'Two' });
    const names = (await rows()).map(({ name }) => name);
    expect(names).toContain('Two');
    expect((await rows()).map(({ id }) => id)).toEqual(names.map((_, index) => index + 1));
  });
});

describe('reading the log', () => {
  it('lists calls and what they did, by operation and over REST alike, with the end of the log', async () => {
    await app.rest('POST /tags/add', { body: { name: 'Shops' }, headers: agent });
    await app.fail('add-tag', { name: 'Shops' });
    const all = await rows();
    const { actions, head, total } = await app.call('list-actions');
    expect(total).toBe(all.length);
    expect(actions.map(({ id }: { id: number }) => id)).toEqual(all.map(({ id }) => id).reverse());
    expect(head).toEqual({ id: all.length, hash: all.at(-1)?.hash });
    const { body } = await app.rest('GET /actions?contexts=tag');
    expect(body.data).toMatchObject([{ context: 'tag', action: 'created', name: 'Shops', via: 'rest' }]);
    expect((await app.rest('GET /actions?contexts=tags,,&per_page=1000')).status).toBe(400);
    expect((await app.call('get-fleet-brief')).log_head).toBe(`${head.id}:${head.hash}`);
    const checked = await app.rest(`GET /actions/verify?id=${head.id}&hash=${head.hash}`);
    expect(checked.body.data).toMatchObject({ valid: true, rows: all.length });
  });

  it('costs an assistant little: a page has no empty members, hashes or long inputs, unless details are asked for', async () => {
    await app.connect(0);
    const before = (await rows()).length;
    for (let n = 0; n < 10; n++) await app.call('add-tag', { name: `Tag ${n}` });
    const notes = 'A note. '.repeat(60).trim();
    await app.call('update-site', { site_id_or_domain: 1, notes });
    const { actions, total } = await app.call('list-actions');
    const whole = (await app.call('list-actions', { details: true })).actions;
    expect(total).toBeGreaterThanOrEqual(before + 22);
    expect([actions.length, whole.length]).toEqual([20, 20]);
    for (const [at, action] of actions.entries()) {
      expect(Object.values(action).filter((value) => ['""', 'null', '[]'].includes(JSON.stringify(value)))).toEqual([]);
      for (const [member, value] of Object.entries(action))
        expect([member, whole[at][member]]).toEqual([
          member,
          typeof value === 'string' ? expect.stringContaining(value.replace(/…$/, '')) : value,
        ]);
      // Who called is said once for what follows each other in one call.
      const told = ['actor', 'actor_type', 'via'].map((member) => action[member] === whole[at][member]);
      const isTheSame = (member: string) => at > 0 && whole[at - 1][member] === whole[at][member];
      expect(told).toEqual(Array(3).fill(!['request_id', 'operation'].every(isTheSame)));
      expect(whole[at].hash).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(whole.some(({ input }: { input: string }) => input.includes(notes))).toBe(true);
    expect(estimateTokens(actions)).toBeLessThan(2_400);
  });

  it('exports lines that anyone can verify, and events for a SIEM', async () => {
    await app.rest('POST /tags/add', { body: { name: 'Shops' } });
    await app.rest('POST /tags/add', { body: { name: 'Blogs' } });
    const read = async (query: string) => {
      const reply = await app.http.request(`http://127.0.0.1/v2/actions/export${query}`, {
        headers: { Authorization: `Bearer ${app.tokens.read}` },
      });
      expect(reply.headers.get('content-type')).toBe('application/x-ndjson; charset=UTF-8');
      return (await reply.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row);
    };
    const all = await read('?format=jsonl');
    expect((await app.rest('GET /actions/export')).body.data).toEqual(all);
    expect(all).toEqual(await rows());
    for (const row of all) expect(row.hash).toBe(expectedHash(row));
    expect((await read('?after=2&limit=1&format=jsonl')).map(({ id }) => id)).toEqual([3]);
    const events = await read('?format=ocsf');
    expect(events[1]).toMatchObject({
      class_uid: 6003,
      category_uid: 6,
      activity_id: 1,
      type_uid: 600_301,
      status_id: 1,
      time: app.clock.now(),
      actor: { user: { name: 'read_write' } },
      api: { operation: 'POST /tags/add' },
      metadata: { uid: '2' },
    });
  });
});
