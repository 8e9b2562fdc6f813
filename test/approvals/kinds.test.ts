/** Every operation and every route that changes something says what kind of change it makes. */

import { expect, it } from 'vitest';
import { CHANGE_KIND_NAMES, type Change, type ChangeOf } from '../../schemas/approval.js';
import { contractOf } from '../../src/operation/contract.js';
import type { Operation } from '../../src/operation/operation.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { ROUTE_OF } from '../../src/surfaces/rest/route-names.js';
import { operations } from '../../tools/index.js';

function kindsOf(change: ChangeOf | null, input: object = {}): string[] {
  if (change === null) return [];
  if (change === 'approvals') return ['approvals'];
  if (typeof change === 'function') return (change as (input: object) => Change[])(input).map(({ kind }) => kind);
  return [typeof change === 'string' ? change : change.kind];
}

const inputNames = (one: Operation) => Object.keys(contractOf(one).input_schema.properties as object);

const BATCH = {
  create: [{}],
  update: [{}],
  delete: [1],
  sync: [1],
  reconnect: [1],
  disconnect: [1],
  suspend: [1],
  unsuspend: [1],
  check: [1],
};

it.each(operations.map((operation) => [operation.id, operation] as const))('%s', (id, { effect, change }) => {
  const kinds = kindsOf(change);
  expect(kinds.length > 0).toBe(effect !== 'read' && !FREE.includes(id));
  for (const kind of kinds) expect(CHANGE_KIND_NAMES).toContain(kind);
});

/** They change no site, or only stop what does. */
const FREE = [
  'svc/withdraw-approval-v1',
  'POST /approvals/{approval_id}/withdraw',
  'POST /updates/plans',
  'DELETE /updates/plans/{plan_id}',
  'POST /rollouts/{rollout_id}/pause',
  'POST /rollouts/{rollout_id}/abort',
];

it('routes that are not a GET have one, and no GET has', () => {
  for (const { key, on, needs, change } of routes) {
    const kinds = kindsOf(change, BATCH);
    // An archive holds passwords of the site.
    const reads = key === 'GET /backups/{backup_id}/archive' ? 'write' : 'read';
    if (on.includes('GET')) expect([key, needs, kinds]).toEqual([key, reads, []]);
    else
      expect([key, kinds.length > 0, needs]).toEqual([
        key,
        !FREE.includes(key),
        kinds[0] === 'approvals' ? 'approve' : 'write',
      ]);
    for (const kind of kinds) expect(['approvals', ...CHANGE_KIND_NAMES]).toContain(kind);
  }
  const own = routes.filter(({ change }) => change === 'approvals').map(({ key }) => key);
  expect(own).toEqual([
    'POST /policies',
    'POST /policies/preview',
    'PUT|PATCH /policies/{policy_id}',
    'DELETE /policies/{policy_id}',
    'POST /approvals/{approval_id}/approve',
    'POST /approvals/{approval_id}/refuse',
    'PUT|PATCH /approvals/rules',
  ]);
});

it('an undo of a run or a rollout only rolls updates back', () => {
  const changes = [
    operations.find(({ id }) => id === 'svc/undo-change-v1')?.change,
    routes.find(({ key }) => key === 'POST /actions/undo')?.change,
  ] as ChangeOf[];
  for (const change of changes) {
    expect(kindsOf(change, { rollout_id: 'r' })).toEqual(['updates']);
    expect(kindsOf(change, { run_id: 'r' })).toEqual(['updates']);
    expect(kindsOf(change, { since: '2026-01-01' })).toContain('deletions');
    expect(kindsOf(change, { change_id: 5 })).toContain('settings');
  }
});

it('a batch has the kinds of what it contains', () => {
  const batch = routes.find(({ key }) => key === 'POST /sites/batch');
  const changes = (input: object) => (batch as unknown as { change(input: object): Change[] }).change(input);
  expect(changes({ delete: [1, 2], disconnect: [3], sync: [4] })).toEqual([
    { kind: 'site_deletions', sites: 2 },
    { kind: 'refresh', sites: 1 },
    { kind: 'disconnections', sites: 1 },
  ]);
  expect(changes({ create: [{}], update: [{}, {}], suspend: [1], check: [] })).toEqual([
    { kind: 'connections', sites: 4 },
  ]);
});

/** Members that name sites, and one by which the plan counts them. */
const NAMING = ['site_id_or_domain', 'id_or_domain', 'site_ids_or_domains', 'include', 'selected_sites', 'dry_run'];
const ON_SITES = ['updates', 'rollouts', 'installs', 'connections', 'disconnections', 'content', 'site_deletions'];
/** They have a plan that names the sites, or act on none in particular. */
const OTHERWISE = [
  ...['svc/suspend-client-v1', 'svc/unsuspend-client-v1', 'svc/add-site-v1'],
  ...['svc/lift-quarantine-v1', 'svc/set-quarantine-scope-v1', 'PUT /quarantine', 'DELETE /quarantine'],
  ...['POST|PUT|PATCH /clients/{id_or_email}/suspend', 'POST|PUT|PATCH /clients/{id_or_email}/unsuspend'],
  ...[
    'POST /sites/add',
    'POST /sites/batch',
    'POST /rollouts/{rollout_id}/resume',
    'POST /rollouts/{rollout_id}/approve',
  ],
];

it('what acts on sites names them, has a plan of them, or means all', () => {
  const calls = [
    ...operations.map((one) => ({ id: one.id, change: one.change, names: inputNames(one) })),
    ...routes.map((one) => ({ id: one.key, change: one.change, names: Object.keys(one.params().shape as object) })),
  ];
  const unclear = calls.filter(
    ({ change, names }) =>
      !(typeof change === 'object' && change !== null && change.sites === 'all') &&
      kindsOf(change, BATCH).some((kind) => ON_SITES.includes(kind)) &&
      !names.some((name) => NAMING.includes(name)),
  );
  expect(unclear.map(({ id }) => id).sort()).toEqual([...OTHERWISE].sort());
});

it('an operation and the route that does the same are of one kind', () => {
  const route = (text: string) => {
    const [method = '', path = ''] = text.replace('/v2', '').split(' ');
    return routes.find((row) => row.path === path && row.on.some((on) => on === method));
  };
  const pairs = Object.entries(ROUTE_OF).flatMap(([name, text]) => {
    const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
    return operation === undefined ? [] : [[name, kindsOf(operation.change), kindsOf(route(text)?.change ?? null)]];
  });
  expect(pairs.length).toBeGreaterThan(20);
  for (const [name, ofOperation, ofRoute] of pairs) expect([name, ofRoute]).toEqual([name, ofOperation]);
});
