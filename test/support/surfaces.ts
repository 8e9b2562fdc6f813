/** All surfaces (MCP of both eras, operations over HTTP) over real storage, with three small operations instead of the product's. */

import { createHash, randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { bool, confirmation, int, list, siteRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import type { Ctx } from '../../src/domain/context.js';
import { defineOperation, type GroupedOperation, type Invoke } from '../../src/operation/operation.js';
import type { Actor } from '../../src/runtime/actor.js';
import type { Clock } from '../../src/runtime/clock.js';
import { createClock, systemClock } from '../../src/runtime/clock.js';
import type { Config } from '../../src/runtime/config/types.js';
import { ServiceError } from '../../src/runtime/errors.js';
import type { Log } from '../../src/runtime/log.js';
import { createKeys, type Keys } from '../../src/store/access/keys.js';
import { createUsers, type Users } from '../../src/store/access/users.js';
import type { Db } from '../../src/store/driver/db.js';
import { openDb } from '../../src/store/driver/open.js';
import { hashToken, verifyPassword } from '../../src/store/vault/vault.js';
import { createRunApp } from '../../src/surfaces/abilities/app.js';
import type { Auth } from '../../src/surfaces/auth/auth.js';
import { createAuth } from '../../src/surfaces/auth/auth.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { createRouter } from '../../src/surfaces/http/router.js';
import { createMcpCore, type McpCore } from '../../src/surfaces/mcp/core.js';
import { createMcpHttp, type McpHttp } from '../../src/surfaces/mcp/http.js';
import { mcpEnvelope } from '../../src/surfaces/mcp/http-errors.js';
import type { ToolRegistry } from '../../src/surfaces/mcp/registry.js';
import { createMcpServer } from '../../src/surfaces/mcp/server-2025.js';
import { createModernServer } from '../../src/surfaces/mcp/server-2026.js';
import type { SessionSeal } from '../../src/surfaces/mcp/session-ids.js';

import { closing } from './cleanup.js';
import { testConfig } from './config.js';
import { fillMigrated } from './migrated.js';

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  /** Offset of the wall clock from the elapsed time, ms. */
  #off = 0;
  readonly #clock: Clock;
  constructor(public time = 1_700_000_000_000) {
    this.#clock = createClock({
      now: () => this.time + this.#off,
      elapsed: () => this.time,
      sleep: (ms) => this.sleep(ms),
      after: (ms, run) => this.after(ms, run),
      cron: () => this.cron(),
    });
  }
  now(): number {
    return this.#clock.now();
  }
  elapsed(): number {
    return this.#clock.elapsed();
  }
  steps(within?: number) {
    return this.#clock.steps(within);
  }
  /** Sets the wall clock forward or back, as a time service does. */
  step(ms: number): void {
    this.#off += ms;
  }
  async sleep(ms: number): Promise<void> {
    this.time += ms;
  }
  /** Nothing is late here. */
  after(_ms: number, _run: () => void) {
    return () => undefined;
  }
  deadline(ms: number) {
    return this.#clock.deadline(ms);
  }
  /** Nothing runs on schedule here. */
  cron() {
    return { stop: () => undefined };
  }
}

/** Returns its own input, so that a test sees it coerced. */
const look = defineOperation({
  id: 'svc/look-things-v1',
  title: 'Look at things',
  about: 'Answers its own input.',
  run: 'POST',
  effect: 'read',
  input: () =>
    z.object({
      page: int(1).default(1),
      wide: bool().default(false),
      status: z.enum(['any', 'connected']).default('any'),
      types: list(z.string()).default([]),
      include: list(int(1)).default([]),
      search: z.string().default(''),
    }),
  output: () =>
    z.object({
      page: z.number(),
      wide: z.boolean(),
      status: z.string(),
      types: z.array(z.string()),
      include: z.array(z.number()),
      search: z.string(),
      caller: z.string(),
    }),
  handle: async (input, ctx) => ({ ...input, caller: `${ctx.actor.type}:${ctx.actor.id}:${ctx.actor.via}` }),
});

/** How many calls of it have begun, and how many steps they have made. */
let begun = 0;
let steps = 0;

/** Runs a number of steps with progress, and fails on request. */
const work = defineOperation({
  id: 'svc/work-things-v1',
  title: 'Work on things',
  about: 'Reports progress.',
  instructions: 'Empty list means all.',
  effect: 'write',
  change: 'other',
  idempotent: false,
  multi: true,
  input: () => z.object({ site_id_or_domain: siteRef(), steps: int(0, 1000).default(0), fail: z.string().default('') }),
  output: () => z.object({ done: z.number() }),
  handle: async ({ steps: total, fail, site_id_or_domain }, ctx) => {
    begun += 1;
    if (fail === 'known') {
      throw new ServiceError('svc_ambiguous_site', `${site_id_or_domain} names several sites.`, {
        field: 'site_id_or_domain',
        advice: 'Use an id.',
        data: { site_ids: [1, 2] },
      });
    }
    if (fail === 'bug') throw new TypeError('secret internals');
    for (let done = 1; done <= total; done += 1) {
      if (ctx.signal.aborted) throw new DOMException('stop', 'AbortError');
      await new Promise((resolve) => setTimeout(resolve, 2));
      steps += 1;
      ctx.progress({ done, total, message: `step ${done}` });
    }
    return { done: total };
  },
});

const remove = defineOperation({
  id: 'svc/delete-thing-v1',
  title: 'Delete a thing',
  about: 'Deletes.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: true,
  input: () => z.object({ tag_id: int(1), ...confirmation() }),
  output: () => z.object({ deleted: z.boolean(), dry_run: z.boolean().optional() }),
  preview: async () => ({ deleted: false, dry_run: true }),
  handle: async () => ({ deleted: true }),
});

const operations: GroupedOperation[] = [
  { ...work, group: 'updates' },
  { ...look, group: 'sites' },
  { ...remove, group: 'tags' },
];

export interface Surfaces {
  http: Hono<HttpEnv>;
  auth: Auth;
  core: McpCore;
  registry: ToolRegistry;
  mcp: McpHttp;
  db: Db;
  users: Users;
  keys: Keys;
  clock: HandClock;
  /** Number of password checks that were really computed. */
  hashings(): number;
  /** How many calls of `work-things` have begun, in all tests of this worker. */
  begun(): number;
  /** How many steps they have made. */
  steps(): number;
  /** How often a key's use was recorded. */
  touches(): number;
  logged: { level: string; facts: Record<string, unknown>; message: string }[];
  serverFor(actor: Actor): ReturnType<typeof createMcpServer>;
  close(): Promise<void>;
}

export async function startSurfaces(
  change: Partial<Config> & {
    maxSessions?: number;
    sessionSeal?: SessionSeal;
    maxBody?: number;
    notReady?: string[];
    beforeHash?: () => Promise<void>;
  } = {},
): Promise<Surfaces> {
  const { maxSessions, sessionSeal, maxBody, notReady = [], beforeHash, ...configChange } = change;
  const config = testConfig({ secret_key: null, ...configChange });
  const db = await openDb(':memory:');
  await fillMigrated(db);
  const clock = new HandClock();
  const users = createUsers(db);
  const keys = createKeys(db);
  let hashings = 0;
  let touches = 0;
  let requests = 0;
  const logged: Surfaces['logged'] = [];
  const note = (level: string) => (facts: Record<string, unknown>, message: string) =>
    void logged.push({ level, facts, message });
  const log: Log = { debug() {}, info: note('info'), warn: note('warn'), error: note('error') };
  const newRequestId = () => `req-${++requests}`;
  const auth = createAuth({
    findUser: users.login,
    findKey: keys.login,
    verifyPassword: async (password, stored) => {
      hashings += 1;
      await beforeHash?.();
      return stored.startsWith('quick$') ? quickHash(password) === stored : verifyPassword(password, stored);
    },
    unmatchableHash: () => quickHash(randomUUID()),
    hashToken,
    touchKey: async (id, at) => {
      touches += 1;
      await keys.touch(id, at);
    },
    clock,
    log,
  });
  const invoke: Invoke = (operation, raw, caller) => {
    const record = (_ctx: Ctx, _input: unknown, work: () => Promise<unknown>) => work();
    const change = (_ctx: Ctx, _asked: unknown, work: () => Promise<unknown>) => work();
    const ctx = {
      ...caller,
      record,
      change,
      foretell: async () => null,
      progress: caller.progress ?? (() => {}),
      config,
      clock,
      log,
    } as unknown as Ctx;
    return operation.call(raw, ctx);
  };
  const core = createMcpCore({
    operations,
    invoke,
    log,
    // Work takes real time here; only sessions age by the manual clock.
    clock: systemClock,
    readOnly: config.read_only,
    toolsets: config.toolsets,
    confirm: config.confirm,
    confirmTimeoutMs: config.confirm_timeout_ms,
    maxTokens: config.mcp_max_tokens,
    version: '0.0.0',
    newRequestId,
  });
  const mcp = createMcpHttp({
    core: { ...core, clock },
    auth,
    metadata: {
      issuer: config.oauth_issuer,
      read_scope: 'sitefleet:read',
      write_scope: 'sitefleet:write',
      basic_challenge: config.basic_challenge,
    },
    ...(maxSessions === undefined ? {} : { maxSessions }),
    ...(sessionSeal === undefined ? {} : { sessionSeal }),
    servers: {
      legacy: (actor) => createMcpServer(core, actor),
      modern: (actor) => createModernServer(core, actor),
    },
  });
  const run = createRunApp({
    operations,
    invoke,
    auth,
    log,
    readOnly: config.read_only,
    challenge: config.basic_challenge,
  });
  const http = createRouter({
    config,
    log,
    newRequestId,
    ready: async () => ({ ok: notReady.length === 0, reasons: notReady }),
    mounts: [
      { at: '/', app: run },
      { at: '/', app: mcp.app, envelope: mcpEnvelope },
    ],
    ...(maxBody === undefined ? {} : { maxBody }),
  });
  return closing({
    http,
    auth,
    core,
    registry: core.registry,
    mcp,
    db,
    users,
    keys,
    clock,
    hashings: () => hashings,
    begun: () => begun,
    steps: () => steps,
    touches: () => touches,
    logged,
    serverFor: (actor) => createMcpServer(core, () => actor),
    close: async () => {
      mcp.close();
      await db.close();
    },
  });
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`;
}

/** A hash without cost: the real one costs a quarter second, and is only used in tests about it. */
export function quickHash(password: string): string {
  return `quick$${createHash('sha256').update(password).digest('hex')}`;
}

/** Adds a user with the password `correct horse`. */
export async function addUser(
  surfaces: Surfaces,
  name: string,
  rights: ('read' | 'write')[] = ['read', 'write'],
): Promise<void> {
  await surfaces.users.add({ name, password_hash: quickHash('correct horse'), rights, now: surfaces.clock.now() });
}
