/** The context of calls that only read, in the serving thread of a service whose engine runs beside it. */

import type { Auditor } from '../audit/audit.js';
import type { ChildSites } from '../child/child.js';
import { createSiteLocks } from '../cluster/leases.js';
import type { Config } from '../config/types.js';
import type { Actor } from '../core/actor.js';
import type { Clock } from '../core/clock.js';
import type { Events } from '../core/events.js';
import type { Log } from '../core/log.js';
import type { Progress } from '../core/progress.js';
import type { SiteLocks } from '../core/site-locks.js';
import type { Ctx } from '../domain/context.js';
import { noMailer } from '../mail/mailer.js';
import type { Caller } from '../operation/operation.js';
import type { Probe } from '../probe/probe.js';
import type { Store } from '../store/store.js';

export interface ReadOnlyContextParts {
  store: Store;
  clock: Clock;
  config: Config;
  log: Log;
  events: Events;
}

/** Answers a function that makes the context of one call. Whatever would contact anybody rejects. */
export function readOnlyContexts(parts: ReadOnlyContextParts): (caller: Caller, baseUrl: string) => Ctx {
  const { config } = parts;
  const shared = {
    ...parts,
    child: unavailable<ChildSites>('a child site'),
    probe: unavailable<Probe>('the network'),
    auditor: unavailable<Auditor>('the network'),
    mailer: noMailer(config.smtp_url !== null),
    locks: createSiteLocks(),
  };
  return (caller, baseUrl) => new ReadOnlyContext(shared, caller, baseUrl);
}

const noProgress = () => undefined;

/** One is made for each call, and an object literal with a getter costs as much as a small query. */
class ReadOnlyContext implements Ctx {
  readonly store: Store;
  readonly child: ChildSites;
  readonly auditor: Auditor;
  readonly mailer: Ctx['mailer'];
  readonly probe: Probe;
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly events: Events;
  readonly locks: SiteLocks;
  readonly actor: Actor;
  readonly request_id: string;
  readonly progress: (progress: Progress) => void;
  readonly base_url: string;
  readonly #caller: Caller;

  constructor(
    shared: Omit<Ctx, 'actor' | 'request_id' | 'signal' | 'progress' | 'base_url'>,
    caller: Caller,
    url: string,
  ) {
    this.store = shared.store;
    this.child = shared.child;
    this.auditor = shared.auditor;
    this.mailer = shared.mailer;
    this.probe = shared.probe;
    this.clock = shared.clock;
    this.config = shared.config;
    this.log = shared.log;
    this.events = shared.events;
    this.locks = shared.locks;
    this.actor = caller.actor;
    this.request_id = caller.request_id;
    this.progress = caller.progress ?? noProgress;
    this.base_url = url;
    this.#caller = caller;
  }

  /** Looked at by hardly any read, and for many callers made only when it is. */
  get signal(): AbortSignal {
    return this.#caller.signal;
  }
}

function unavailable<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get(_target, name) {
      return () => Promise.reject(new Error(`The serving thread tried to contact ${what} (${String(name)}).`));
    },
  });
}
