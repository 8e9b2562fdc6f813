import type { Answer } from './http-answer.js';
import type { Random } from './random.js';

/**
 * Milliseconds before the answer: fixed, a range drawn from the site's seed, or computed per function and site; or what
 * the answer waits for.
 */
export type Latency =
  | number
  | readonly [min: number, max: number]
  | ((functionName: string, site: number) => number | Promise<void>);

/**
 * What a version does to the site that runs it. `fatal`: every page and call ends with HTTP 500. `front`, `login`: only
 * that page; `task`: only wp-cron.php. `cart`: only the page cart/. `admin`: only wp-admin and its admin-ajax.php.
 * `white`: the front page is empty.
 * `suspect`: the front page is complete, but different. A harm: the pages work.
 */
export type Breakage = 'fatal' | 'front' | 'login' | 'task' | 'cart' | 'admin' | 'white' | 'suspect' | Harm;

/**
 * What a version changes besides its own files: it drops a table, adds an administrator, changes .htaccess, sends many
 * mails, adds many files, or works off what visitors have queued.
 */
export type Harm =
  | 'drops_table'
  | 'adds_administrator'
  | 'changes_htaccess'
  | 'sends_mails'
  | 'adds_files'
  | 'ends_queue';

/** A visitor's request of a page. */
export interface PageVisit {
  /** Below the site's address. */
  path: string;
  /** One parameter, '' if absent. */
  query: (name: string) => string;
  /** The browser of a phone. */
  phone: boolean;
  /** It takes compressed answers. */
  gzip: boolean;
  /** In the guard's sandbox: what is looked at there; '' = an ordinary visitor. */
  inside: string;
}

/** What a version makes of the page that a visitor gets. */
export type PageChange = (answer: Answer, visit: PageVisit) => Answer;

/** The current faults of a site. All off by default; may be changed at any time. */
export interface Faults {
  latencyMs?: Latency | undefined;
  /** Cuts the connection before any response. */
  offline?: boolean | undefined;
  /** Closes a connection that was kept open as its next request arrives, as a server whose time for that is over. */
  closesKept?: boolean | undefined;
  /** Accepts the request and never responds. */
  hang?: boolean | undefined;
  /** Every signed call gets the authentication error. */
  refused?: boolean | undefined;
  /** The server does not know the method HEAD: HTTP 405. */
  noHead?: boolean | undefined;
  /** HTTP 500 with WordPress' error page, no frame. */
  http500?: boolean | undefined;
  /** HTTP 403 page for protocol calls; `wp-admin` lets calls to the plain site URL pass, and nothing that is posted to admin-ajax.php. */
  firewall?: boolean | 'wp-admin' | undefined;
  /** The firewall's response instead of its page: a word, a 404, or nothing before it cuts the connection. */
  firewallAnswer?: 'word' | 'not_found' | 'cut' | undefined;
  /** Functions that are performed, and whose answer at admin-ajax.php a firewall replaces by its page. */
  firewallFilters?: readonly string[] | undefined;
  /** The body arrives slowly. */
  slowBody?: boolean | { bytes: number; everyMs: number } | undefined;
  /** The body never ends until the client hangs up. */
  oversizedBody?: boolean | undefined;
  /** Reports an old child plugin: true for 3.5.4, or this version. */
  outdated?: boolean | string | undefined;
  /** Updates fail: all, or these slugs (`core` for WordPress itself). */
  failUpdates?: boolean | readonly string[] | undefined;
  /** With failUpdates: WordPress restored the old copy and reports it. */
  rollback?: boolean | undefined;
  /** Answers success to actions and updates, and changes nothing. */
  falseSuccess?: boolean | undefined;
  /** WordPress' maintenance page, HTTP 503: always, or for this many requests. */
  maintenance?: boolean | number | undefined;
  /** Shown after an update call: for this many requests, or until it is removed (`.maintenance` was left behind). */
  maintenanceAfterUpdate?: true | number | undefined;
  /** Redirects everything to this address. */
  redirect?: string | { to: string; status: number } | undefined;
  /** HTTP Basic authentication in front of the site. */
  httpAuth?: { user: string; pass: string } | undefined;
  /** `<mainwp></mainwp>`. */
  emptyFrame?: boolean | undefined;
  /** A frame with truncated JSON. */
  malformedJson?: boolean | undefined;
  /** The plugin is not installed: 400 with body 0. */
  pluginMissing?: boolean | undefined;
  /** Does the update, then drops the connection. */
  dieMidUpdate?: boolean | undefined;
  /**
   * A gateway responds 504 to updates. PHP continues: the update is done at once, or after this many later requests.
   */
  gatewayTimeout?: true | number | undefined;
  /**
   * WordPress sends its headers at once while it updates, as the real one does, and PHP dies in maintenance mode if its
   * client hangs up. Needs a latency.
   */
  flushesUpdates?: boolean | undefined;
  /** Plugins whose update causes a fatal error when it is loaded: every later response is HTTP 500. */
  killedBy?: readonly string[] | undefined;
  /**
   * Plugins that cause a fatal error when they are activated: the call dies there, and the following ones have no turn.
   */
  fatalOnActivation?: readonly string[] | undefined;
  /** Plugins whose update renames the main file, old slug to new: they come back inactive. */
  renames?: Readonly<Record<string, string>> | undefined;
  /** Versions that break the site, as `folder/file.php@2.0`, until another one is installed. */
  breaks?: Readonly<Record<string, Breakage | PageChange>> | undefined;
  /** What every version makes of the pages. */
  pages?: PageChange | undefined;
  /** Digests of what a look in the guard's sandbox is refused to store. */
  refusedInside?: readonly string[] | undefined;
  /** False: the guard does not act on its own. */
  watchdog?: boolean | undefined;
  /** Actions that the guard refuses, with the code it returns. */
  guardRefuses?: Readonly<Record<string, string>> | undefined;
  /** What the guard's copies are without, as their items are too large. */
  guardLeavesOut?: { files: number; bytes: number; long?: number; largest: string[] } | undefined;
  /** False: the owner forbids file changes. */
  fileMods?: boolean | undefined;
  /** Nothing can be written outside the plugins. */
  readOnlyFiles?: boolean | undefined;
  /** A firewall in front of the site refuses code in requests. */
  refuseCode?: boolean | undefined;
  /**
   * A page cache in front of the site ignores parameters, and shows its pages to every visitor without cookies. `server`: it spares
   * visitors with parameters. `plugin`: so does that of a plugin, which the child can empty.
   */
  pageCache?: boolean | 'server' | 'plugin' | undefined;
  /** The response to a core update, instead of performing it. */
  coreAnswer?: 'NORESPONSE' | 'LOCALIZATION' | 'LOCKED' | undefined;
}

const NAMES: Record<keyof Faults, true> = {
  latencyMs: true,
  offline: true,
  closesKept: true,
  hang: true,
  refused: true,
  http500: true,
  noHead: true,
  firewall: true,
  firewallAnswer: true,
  firewallFilters: true,
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
  pages: true,
  refusedInside: true,
  watchdog: true,
  guardRefuses: true,
  guardLeavesOut: true,
  fileMods: true,
  readOnlyFiles: true,
  refuseCode: true,
  pageCache: true,
  coreAnswer: true,
};

/** Milliseconds to wait before this call is answered, or what to wait for. */
export function latencyOf(faults: Faults, random: Random, functionName: string, site: number): number | Promise<void> {
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

/** Merges faults from JSON into `target`; null removes one. Throws a TypeError that names an unknown fault. */
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
