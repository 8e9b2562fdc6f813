/** Operations over a real database in memory, without the network: the base of the tests of clients, tags and costs. */

import type { Ctx } from '../../src/domain/context.js';
import type { Operation } from '../../src/operation/operation.js';
import type { Config } from '../../src/runtime/config/types.js';
import { ServiceError } from '../../src/runtime/errors.js';
import type { Event, NewEvent } from '../../src/runtime/events.js';
import { openDb } from '../../src/store/driver/open.js';
import { createStore } from '../../src/store/store.js';
import { createVault, keyId } from '../../src/store/vault/vault.js';
import { clients } from '../../tools/clients/index.js';
import getSiteClient from '../../tools/sites/get-site-client-v1.js';
import getSiteCosts from '../../tools/sites/get-site-costs-v1.js';
import { tags } from '../../tools/tags/index.js';
import { countingDb } from '../support/counting-db.js';
import { fillMigrated } from '../support/migrated.js';

const operations = new Map<string, Operation>(
  [...clients, ...tags, getSiteClient, getSiteCosts].map((operation) => [operation.id, operation]),
);

export const NOON = Date.UTC(2025, 5, 15, 12);

export async function offlineApp() {
  const db = countingDb(await openDb(':memory:'));
  await fillMigrated(db);
  const key = Buffer.alloc(32, 7);
  const vault = createVault([{ id: keyId(key), key }]);
  const store = createStore(db, vault);
  const state = { now: NOON, rights: ['read', 'write'], modules: ['cost-tracker'] };
  const events: Event[] = [];
  const context = (): Ctx =>
    ({
      store,
      clock: { now: () => state.now },
      config: { read_only: false, modules: state.modules } as unknown as Config,
      actor: { rights: state.rights },
      record: (_ctx: Ctx, _input: unknown, work: () => Promise<unknown>) => work(),
      change: (_ctx: Ctx, _call: unknown, work: () => Promise<unknown>) => work(),
      foretell: async () => null,
      events: { emit: (event: NewEvent) => events.push({ ...event, at: state.now }) },
    }) as unknown as Ctx;

  return {
    db,
    state,
    events,
    context,
    /** Runs `svc/<name>-v1` and forbids more than four round trips for any size of fleet (design: no N+1). */
    async call(name: string, input: object = {}): Promise<Record<string, unknown>> {
      const operation = operations.get(`svc/${name}-v1`);
      if (operation === undefined) throw new Error(`No operation svc/${name}-v1.`);
      const before = db.counts.calls;
      const outcome = await operation.call(input, context()).catch((error: unknown) => ({ error }));
      const calls = db.counts.calls - before;
      if (calls > 4) throw new Error(`${operation.id} took ${calls} round trips.`);
      if ('error' in outcome) throw outcome.error;
      return outcome;
    },

    /** The error that refuses a call; fails when the call succeeds. */
    async refusal(name: string, input: object = {}): Promise<ServiceError> {
      try {
        await this.call(name, input);
      } catch (error) {
        if (error instanceof ServiceError) return error;
        throw error;
      }
      throw new Error(`svc/${name}-v1 was expected to be refused.`);
    },

    async site(
      url: string,
      of: { client?: number; tags?: number[]; suspended?: boolean; disconnected?: boolean; name?: string } = {},
    ) {
      const { lastId } = await db.run(
        'INSERT INTO site (url, url_key, name, search, client_id, suspended, disconnected, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        [
          `https://${url}/`,
          `${url}/`,
          of.name ?? url,
          url,
          of.client ?? null,
          of.suspended ?? false,
          of.disconnected ?? false,
          NOON,
        ],
      );
      for (const tag of of.tags ?? [])
        await db.run('INSERT INTO site_tag (site_id, tag_id) VALUES (?, ?)', [lastId, tag]);
      return lastId;
    },

    /** Makes something happen between a verb's read and its next write. */
    meanwhile(happens: () => Promise<unknown>) {
      const { batch, run } = db;
      const first = async () => {
        Object.assign(db, { batch, run });
        await happens();
      };
      db.batch = async (statements) => {
        await first();
        return batch(statements);
      };
      db.run = async (sql, args) => {
        await first();
        return run(sql, args);
      };
    },

    async client(name: string, more: object = {}): Promise<number> {
      return Number((await this.call('add-client', { name, ...more })).id);
    },

    async tag(name: string, more: object = {}): Promise<number> {
      return Number((await this.call('add-tag', { name, ...more })).id);
    },

    async cell(sql: string, ...args: (string | number)[]): Promise<unknown> {
      const row = await db.one(sql, args);
      return row === undefined ? undefined : Object.values(row)[0];
    },
  };
}

export type OfflineApp = Awaited<ReturnType<typeof offlineApp>>;

/** One member of every item of a list. */
export function pluck(list: unknown, name: string): unknown[] {
  return (list as Record<string, unknown>[]).map((item) => item[name]);
}
