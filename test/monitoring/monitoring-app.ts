/** The monitors over a real database and a simulated network: the test decides which answers arrive, and when. */

import { createService, type Service } from '../../src/app/service.js';
import type { Ctx } from '../../src/domain/context.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import type { HttpAnswer, HttpProbe, Probe } from '../../src/outbound/probe/probe.js';
import type { Event } from '../../src/runtime/events.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import type { Db } from '../../src/store/driver/db.js';
import { bareSite } from '../support/bare-site.js';
import { closing } from '../support/cleanup.js';
import { type CountingDb, countingDb } from '../support/counting-db.js';
import { type HandClock, handClock, SYSTEM, testConfig } from '../support/harness.js';
import { fillMigrated } from '../support/migrated.js';

export interface SimulatedNetwork {
  http(probe: HttpProbe): HttpAnswer | Promise<HttpAnswer>;
  online?(): boolean;
  /** Further methods of the port. */
  probe?: Partial<Probe>;
}

export interface MonitoringApp {
  service: Service;
  clock: HandClock;
  db: CountingDb;
  ctx(): Ctx;
  events: Event[];
  /** Adds sites `https://s1.example/`, … and returns their ids. */
  addSites(n: number, url?: (i: number) => string): Promise<number[]>;
  settings(values: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

const KEY = 'ab'.repeat(32);

/** `db` names a file to continue with after a restart. */
export async function monitoringApp(
  network: SimulatedNetwork,
  options: { db?: string; clock?: HandClock; wrapDb?: (db: Db) => Db } = {},
): Promise<MonitoringApp> {
  const clock = options.clock ?? handClock();
  const events: Event[] = [];
  const { registrableDomain } = createProbe({ allowPrivate: true });
  const probe: Probe = {
    http: async (request) => network.http(request),
    certificate: () => Promise.reject(new Error('not in this network')),
    domain: () => Promise.reject(new Error('not in this network')),
    registrableDomain,
    online: async () => network.online?.() ?? true,
    close: async () => undefined,
    ...network.probe,
  };
  let counting: CountingDb | undefined;
  const service = await createService({
    config: testConfig({ db: options.db ?? ':memory:', secret_key: KEY }),
    clock,
    log: createLog('silent'),
    engine: 'inline',
    jobs: false,
    probe,
    prepareDb: options.db === undefined ? fillMigrated : undefined,
    wrapDb: (db) => {
      counting = countingDb(options.wrapDb?.(db) ?? db);
      return counting;
    },
  });
  service.events.subscribe((event) => events.push(event));
  const controller = new AbortController();
  let closed: Promise<void> | undefined;
  return closing({
    service,
    clock,
    get db() {
      if (counting === undefined) throw new Error('the database was not opened');
      return counting;
    },
    ctx: () =>
      service.ctx({
        actor: SYSTEM,
        request_id: 'test',
        signal: controller.signal,
      }),
    events,
    async addSites(n, url = (i) => `https://s${i}.example/`) {
      const ids: number[] = [];
      for (let i = 1; i <= n; i++) {
        const address = url(i);
        const site = bareSite(address, { name: `Site ${i}` });
        const id = await service.store.sites.add(site, clock.now(), () => []);
        if (id === undefined) throw new Error(`${address} is there already`);
        ids.push(id);
      }
      return ids;
    },
    settings: (values) =>
      service.store.settings.write(
        Object.entries(values).map(([key, value]) => ({ key: `monitoring.${key}`, value })),
        clock.now(),
      ),
    close: () => {
      closed ??= service.stop();
      return closed;
    },
  });
}

const TIMING = { dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 4 };

export function answers(http_status: number, change: Partial<HttpAnswer> & { total_ms?: number } = {}): HttpAnswer {
  const { total_ms = 120, ...rest } = change;
  return {
    http_status,
    retry_after: '',
    body: '',
    truncated: false,
    ip: '192.0.2.1',
    redirects: 0,
    timing: { ...TIMING, total_ms },
    failure: null,
    ...rest,
  };
}

export function silence(kind: 'timed_out' | 'dns' | 'unreachable' = 'timed_out'): HttpAnswer {
  return answers(0, {
    ip: '',
    timing: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 60_000 },
    failure: { kind, message: 'The site did not answer.' },
  });
}

export function maintenancePage(): HttpAnswer {
  return answers(503, { body: 'Briefly unavailable for scheduled maintenance. Check back in a minute.' });
}
