/** The port to throw-away copies of sites, for trial restores: files, a database and PHP of their own, and no network. */

/** Why no copy can be made or used. This says nothing about the backup. The message is safe to show. */
export class CopyUnavailable extends Error {}

/** The database of the copy refused the backup's tables. */
export class CopyRefused extends Error {}

export interface CopySettings {
  /** What the names of WordPress' own tables begin with. */
  prefix: string;
  /** Constants of the site that its copy has, too. */
  constants: Readonly<Record<string, string | number | boolean>>;
  /** The version that runs the site; '' = unknown. */
  php: string;
}

/** A request as a visitor's. */
export interface CopyRequest {
  https: boolean;
  /** With the port, if it has one. */
  host: string;
  /** With the query. */
  path: string;
  cookie: string;
}

export interface CopyAnswer {
  status: number;
  content_type: string;
  /** Untrusted: match it, never show it. */
  body: string;
  /** Errors that ended PHP, the newest last, without paths of this machine. Untrusted. */
  errors: string[];
}

export interface SiteCopy {
  /** What runs it. `playground`: WordPress Playground, whose PHP and database are of another kind than those of sites. */
  readonly means: 'machine' | 'container' | 'playground';
  /** Versions of what runs it. */
  readonly php: string;
  readonly database: string;
  /** `none`: it can reach nothing. `open`: this machine confines no networks, so only PHP's settings stand in its way. */
  readonly network: 'none' | 'open';
  /** Writes a file below the folder of the site, and returns the SHA-256 of its bytes, in hex. */
  put(path: string, parts: AsyncIterable<Uint8Array>): Promise<string>;
  /** @throws CopyRefused */
  load(sql: AsyncIterable<Uint8Array>): Promise<void>;
  /** Rows of a query, each a list of texts; NULL is null. @throws CopyUnavailable */
  query(sql: string): Promise<(string | null)[][]>;
  /** Makes the copy's configuration. Before the first request. */
  configure(settings: CopySettings): Promise<void>;
  /** Asks for a page. @throws CopyUnavailable if PHP took too long */
  ask(request: CopyRequest): Promise<CopyAnswer>;
  /** Whether PHP has an extension. */
  has(extension: string): boolean;
  /** Ends all processes and removes the folder. */
  close(): Promise<void>;
}

export interface SiteCopies {
  /**
   * Removes what a process that died has left, and makes an empty copy.
   * @param bytes that it will need on disk
   * @throws CopyUnavailable
   */
  open(bytes: number, signal: AbortSignal): Promise<SiteCopy>;
  /** Waits until no other copy of this process is in use, at most this long; null = there was no turn. Returns what ends it. */
  turn(waitMs: number, signal: AbortSignal): Promise<(() => void) | null>;
  /** Why none can be made here, as far as that is known at once; null = it can be tried. */
  unavailable(): Promise<string | null>;
}

/** Where drills are switched off. */
export function noCopies(): SiteCopies {
  const reason = 'Trial restores are switched off here. The operator sets SITEFLEET_DRILLS=1.';
  return {
    open: () => Promise.reject(new CopyUnavailable(reason)),
    turn: async () => null,
    unavailable: async () => reason,
  };
}
