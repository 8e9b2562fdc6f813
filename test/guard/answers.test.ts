/** Answers of a guard and of the plugin for backups with hostile values in each place: they are read, or refused as unusable. */

import { expect, it } from 'vitest';
import {
  armedOf,
  faultsOf,
  GuardShapeError,
  helloOf,
  ledgerOf,
  mendedOf,
  restoredOf,
  sandboxOf,
  snapshotOf,
  snapshotsOf,
  tokenOf,
} from '../../src/outbound/guard/answers.js';
import { BackupClient } from '../../src/outbound/guard/backup-client.js';

type Fields = Record<string, unknown>;

const ID = 'a'.repeat(32);
const DIGEST = 'b'.repeat(64);
const snapshot = {
  ...{ id: ID, role: 'snapshot', kind: 'plugin', slug: 'a/a.php', version: '1.0', created: 1, files: 1, bytes: 1 },
  digest: DIGEST,
};
const armed = [{ snapshot: ID, kind: 'plugin', slug: 'a/a.php', at: 1, until: 2 }];
const fault = {
  ...{ time: 1, first: 1, count: 1, message: 'm', file: 'f', line: 1, kind: 'plugin', item: 'a', armed: true },
  ...{ blames: ID, ours: 1, cron: false, restored: ID, waited: 'known' },
};
const hello = {
  ...{ guard: '1', wordpress: '6', php: '8', multisite: false, free_bytes: 1, file_mods: true, opcache: true },
  ...{ writable: { store: true, plugins: true, themes: true, mu_plugins: true }, maintenance: false, login: true },
  ...{ updating: [{ kind: 'plugin', slug: 'a', since: 1 }], drop_ins: ['x.php'], visits: { days: 1, count: 1 } },
  ...{ backup: '1', armed },
};
const ledger = {
  ...{ wordpress: '6', prefix: 'wp_', tables: [{ name: 't', rows: 1 }], options: 1, vital: { home: 'x' }, held: ['h'] },
  ...{ active: ['a'], files: [{ name: 'f', sha256: DIGEST }], events: [{ hook: 'h', schedule: 's' }], mails: 1 },
  ...{ administrators: [{ id: 1, login: 'l', mail: 'm' }], roles: [{ role: 'r', users: 1 }] },
};
const client = (value: Fields) => new BackupClient((_action, _parameters, read) => Promise.resolve(value).then(read));
const bytes = Buffer.from('x').toString('base64');

const READERS: Record<string, [good: Fields, read: (value: Fields) => unknown]> = {
  snapshot: [{ snapshot }, (value) => snapshotOf(value.snapshot)],
  list: [{ snapshots: [snapshot] }, snapshotsOf],
  armed: [{ armed }, armedOf],
  hello: [hello, helloOf],
  restored: [{ snapshot, already: false, replaced: snapshot, active: true, maintenance: false, ms: 1 }, restoredOf],
  faults: [{ faults: [fault] }, faultsOf],
  ledger: [{ ledger: { ...ledger, powers: ['r'] } }, ledgerOf],
  mended: [{ mended: { files: ['f'], options: ['o'], events: ['e'] } }, mendedOf],
  sandbox: [{ looks: ['l'] }, sandboxOf],
  token: [{ token: DIGEST, until: 1 }, tokenOf],
  manifest: [
    { entries: [['a', 1, 1, 1, 1, 1]], left_out: [['b', 'link']], next: null },
    (value) => client(value).manifest(''),
  ],
  read: [
    {
      parts: [{ length: 1, size: 1, time: 1, inode: 1, changed: false }, { error: 'gone' }],
      data: bytes,
      deflated: false,
    },
    (value) => client(value).read([]),
  ],
  digest: [{ digests: [DIGEST, null] }, (value) => client(value).digest([])],
  tables: [
    {
      ...{ prefix: 'wp_', server: 's', others: [{ kind: 'view', name: 'v' }] },
      tables: [{ name: 't', engine: 'InnoDB', rows: 1, bytes: 1, create: 'c', ordered: true }],
    },
    (value) => client(value).tables(),
  ],
  rows: [
    {
      slices: [{ range: 0, after: ['00'], to: null, end: true, rows: 1, bytes: 1, sha256: DIGEST, same: false }],
      ...{ data: bytes, deflated: false },
    },
    (value) => client(value).rows([]),
  ],
  restoring: [{ job: { id: 'j', phase: 'staging' } }, (value) => client(value).restoring()],
  plan: [{ planned: 1 }, (value) => client(value).plan('j', 0, [])],
  write: [{ digests: [DIGEST] }, (value) => client(value).write('j', [])],
  load: [{ table: 't' }, (value) => client(value).load('j', 't', null, Buffer.alloc(0))],
  finish: [{ finished: true }, (value) => client(value).finish('j')],
};

const HOSTILE: unknown[] = [
  '{"toString":1,"valueOf":1,"toJSON":1,"length":1e9}',
  '{"__proto__":{"toString":1}}',
  '[{"toString":1}]',
  '[[{"toString":1},"x"]]',
  '[]',
  '[null]',
  'null',
  'true',
  '"NaN"',
  '"1e999"',
  '""',
  '1e999',
  '1e308',
  '-1e308',
  '9e15',
  '-1',
  '0.5',
].map((text) => JSON.parse(text) as unknown);

/** The value with each place in it replaced in turn. */
function* bent(value: unknown, by: unknown): Generator<unknown> {
  yield by;
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    for (const one of bent((value as Fields)[key], by)) {
      const copy = structuredClone(value) as Fields;
      copy[key] = one;
      yield copy;
    }
  }
}

it.each(Object.entries(READERS))('%s', async (_name, [good, read]) => {
  await read(structuredClone(good));
  for (const by of HOSTILE) {
    for (const answer of bent(good, by)) {
      // That an answer is an object is known before it is read.
      if (answer === by) continue;
      const failed = await (async () => read(answer as Fields))().then(
        (found) => JSON.stringify(found) === '' && found,
        (error: unknown) => error,
      );
      if (failed !== false)
        expect([failed, JSON.stringify(answer)]).toEqual([expect.any(GuardShapeError), expect.anything()]);
    }
  }
});

it.each([
  ['hello', hello, helloOf],
  ['faults', fault, (value: Fields) => faultsOf({ faults: [value] })],
  ['ledger', ledger, (value: Fields) => ledgerOf({ ledger: value })],
])('%s without a member is refused, as every guard that answers sends it', (_name, good: Fields, read) => {
  for (const name of Object.keys(good)) {
    const { [name]: _left, ...others } = good;
    expect(() => read(others), name).toThrow(`no usable "${name}"`);
  }
});

it.each(['created', 'until'])('a time of which no date can be made is refused: %s', (name) => {
  const bad =
    name === 'created'
      ? () => snapshotOf({ ...snapshot, created: 9e12 })
      : () => tokenOf({ token: DIGEST, until: 9e12 });
  expect(bad).toThrow(GuardShapeError);
});
