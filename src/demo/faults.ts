import type { Random } from './random.js';

/** Milliseconds before the answer: fixed, a range drawn from the site's seed, or computed per function and site. */
export type Latency = number | readonly [min: number, max: number] | ((functionName: string, site: number) => number);

/**
 * What a version does to the site that runs it. `fatal`: every page and call ends with HTTP 500. `front`, `login`: only that page;
 * `task`: only wp-cron.php. `admin`: only wp-admin and its admin-ajax.php. `white`: the front page is empty. `suspect`: the front page is whole, and another one.
 */
export type Breakage = 'fatal' | 'front' | 'login' | 'task' | 'admin' | 'white' | 'suspect';

/** What is wrong with a site right now. All off by default; may be changed at any time. */
export interface Faults {
  latencyMs?: Latency | undefined;
  /** The connection is cut before anything is answered. */
  offline?: boolean | undefined;
  /** Accepts the request and never answers. */
  hang?: boolean | undefined;
  /** Every signed call gets the authentication error. */
  refused?: boolean | undefined;
  /** HTTP 500 with WordPress' error page, no frame. */
  http500?: boolean | undefined;
  /** HTTP 403 page for protocol calls; `wp-admin` lets calls to the plain site URL pass. */
  firewall?: boolean | 'wp-admin' | undefined;
  /** What the firewall answers in place of its page: a word, a 404, or nothing before it cuts the connection. */
  firewallAnswer?: 'word' | 'not_found' | 'cut' | undefined;
  /** The body dribbles in. */
  slowBody?: boolean | { bytes: number; everyMs: number } | undefined;
  /** The body never ends until the client hangs up. */
  oversizedBody?: boolean | undefined;
  /** Reports an old child plugin: true for 3.5.4, or this version. */
  outdated?: boolean | string | undefined;
  /** Updates fail: all, or these slugs (`core` for WordPress itself). */
  failUpdates?: boolean | readonly string[] | undefined;
  /** With failUpdates: WordPress put the old copy back and says so. */
  rollback?: boolean | undefined;
  /** Answers success to actions and updates, and changes nothing. */
  falseSuccess?: boolean | undefined;
  /** WordPress' maintenance page, HTTP 503: always, or for so many requests. */
  maintenance?: boolean | number | undefined;
  /** Shown from an update call on: for so many requests, or until it is taken away (`.maintenance` was left behind). */
  maintenanceAfterUpdate?: true | number | undefined;
  /** Redirects everything to this address. */
  redirect?: string | { to: string; status: number } | undefined;
  /** HTTP Basic in front. */
  httpAuth?: { user: string; pass: string } | undefined;
  /** `<mainwp></mainwp>`. */
  emptyFrame?: boolean | undefined;
  /** A frame whose content is cut JSON. */
  malformedJson?: boolean | undefined;
  /** The plugin is not installed: 400 with body 0. */
  pluginMissing?: boolean | undefined;
  /** Does the update, then drops the connection. */
  dieMidUpdate?: boolean | undefined;
  /** A gateway answers 504 to updates. PHP goes on: the update is done at once, or after so many later requests. */
  gatewayTimeout?: true | number | undefined;
  /**
   * WordPress sends what it has while it updates, as the real one does: the headers come at once, and PHP dies in maintenance mode
   * when its client hangs up. Needs a latency.
   */
  flushesUpdates?: boolean | undefined;
  /** Plugins whose update is fatal when it is loaded: everything after it is answered HTTP 500. */
  killedBy?: readonly string[] | undefined;
  /** Plugins that are fatal when they are activated: the call dies there, and those behind them have no turn. */
  fatalOnActivation?: readonly string[] | undefined;
  /** Plugins whose update renames the main file, old slug to new: they come back inactive. */
  renames?: Readonly<Record<string, string>> | undefined;
  /** Versions that break the site, as `folder/file.php@2.0`, until another one is in its place. */
  breaks?: Readonly<Record<string, Breakage>> | undefined;
  /** False: the guard does not act by itself. */
  watchdog?: boolean | undefined;
  /** Actions that the guard refuses, with the code it gives. */
  guardRefuses?: Readonly<Record<string, string>> | undefined;
  /** False: the owner forbids changes of files. */
  fileMods?: boolean | undefined;
  /** Nothing can be written outside the plugins. */
  readOnlyFiles?: boolean | undefined;
  /** A firewall in front of the site refuses code in requests. */
  refuseCode?: boolean | undefined;
  /** What a core update answers instead of working. */
  coreAnswer?: 'NORESPONSE' | 'LOCALIZATION' | 'LOCKED' | undefined;
}

const NAMES: Record<keyof Faults, true> = {
  latencyMs: true,
  offline: true,
  hang: true,
  refused: true,
  http500: true,
  firewall: true,
  firewallAnswer: true,
  slowBody: true,
  oversizedBody: true,
  outdated: true,
  failUpdates: true,
  rollback: true,
  falseSuccess: true,
  maintenance: true,
  redirect: true,
  httpAuth: true,
  emptyFrame: true,
  malformedJson: true,
  pluginMissing: true,
  dieMidUpdate: true,
  maintenanceAfterUpdate: true,
  gatewayTimeout: true,
  flushesUpdates: true,
  killedBy: true,
  renames: true,
  fatalOnActivation: true,
  breaks: true,
  watchdog: true,
  guardRefuses: true,
  fileMods: true,
  readOnlyFiles: true,
  refuseCode: true,
  coreAnswer: true,
};

/** Milliseconds to wait before this call is answered. */
export function latencyOf(faults: Faults, random: Random, functionName: string, site: number): number {
  const latency = faults.latencyMs;
  if (latency === undefined) return 0;
  if (typeof latency === 'number') return latency;
  if (typeof latency === 'function') return latency(functionName, site);
  return random.int(latency[0], latency[1]);
}

export function updateFails(faults: Faults, slug: string): boolean {
  const { failUpdates } = faults;
  return typeof failUpdates === 'object' ? failUpdates.includes(slug) : failUpdates === true;
}

/**
 * Merges faults that came as JSON into `target`; null removes one.
 * Throws a TypeError that names a fault which does not exist.
 */
export function mergeFaults(target: Faults, patch: unknown): void {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw new TypeError('faults: expected an object of fault names and values');
  }
  for (const name of Object.keys(patch)) {
    if (!Object.hasOwn(NAMES, name)) {
      throw new TypeError(`faults.${name}: no such fault; there are ${Object.keys(NAMES).join(', ')}`);
    }
  }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(target, name);
    else Reflect.set(target, name, value);
  }
}
