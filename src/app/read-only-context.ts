/** The context of reading calls in the serving thread, when the engine runs in a separate thread. */

import { recordedCall } from '../domain/action-log/recorded-call.js';
import { approvedChange, foretold } from '../domain/approvals/gate.js';
import { backUpBeforeChange } from '../domain/backups/before-change.js';
import type { Ctx } from '../domain/context.js';
import type { Auditor } from '../outbound/audit/audit.js';
import type { ChildSites } from '../outbound/child/port.js';
import { noCopies } from '../outbound/copies/copies.js';
import type { VulnerabilityFeed } from '../outbound/feed/vulnerability-feed.js';
import type { SiteGuards } from '../outbound/guard/guards.js';
import { noMailer } from '../outbound/mail/mailer.js';
import { noPictures } from '../outbound/pictures/pictures.js';
import type { Probe } from '../outbound/probe/probe.js';
import type { WebhookSender } from '../outbound/webhook/sender.js';
import { createCancellable } from '../runtime/cancellable.js';
import type { Clock } from '../runtime/clock.js';
import { createSiteLocks } from '../runtime/cluster/leases.js';
import type { Config } from '../runtime/config/types.js';
import type { TaskCaller } from '../runtime/engine/client.js';
import type { Events } from '../runtime/events.js';
import type { Log } from '../runtime/log.js';
import type { BackupStorage } from '../store/backups/repository/types.js';
import type { Store } from '../store/store.js';

export interface ReadOnlyContextParts {
  store: Store;
  clock: Clock;
  config: Config;
  log: Log;
  events: Events;
}

/**
 * @returns a function that creates the context of one call; anything that would contact a site or the network rejects
 */
export function readOnlyContexts(parts: ReadOnlyContextParts): (caller: TaskCaller) => Ctx {
  const shared = {
    ...parts,
    child: unavailable<ChildSites>('a child site'),
    guards: unavailable<SiteGuards>('the guard of a site'),
    probe: unavailable<Probe>('the network'),
    auditor: unavailable<Auditor>('the network'),
    pictures: noPictures(),
    copies: noCopies(),
    mailer: noMailer(parts.config.smtp_url !== null),
    // Backups are made in the engine.
    backups: null,
    backupStorage: unavailable<BackupStorage>('the backups of sites'),
    backUp: backUpBeforeChange,
    webhooks: unavailable<WebhookSender>('the network'),
    vulnerabilities: unavailable<VulnerabilityFeed>('the network'),
    locks: createSiteLocks(),
    calls: createCancellable(),
    record: recordedCall,
    change: approvedChange,
    foretell: foretold,
  };
  return ({ actor, request_id, signal, base_url, client = '', progress = () => undefined }) => ({
    actor,
    operation: '',
    run_id: '',
    request_id,
    client,
    signal,
    base_url,
    progress,
    // Last: adding members to an object after a spread gives it a hidden class of its own, and every call creates one.
    ...shared,
  });
}

function unavailable<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get(_target, name) {
      return () => Promise.reject(new Error(`The serving thread tried to contact ${what} (${String(name)}).`));
    },
  });
}
