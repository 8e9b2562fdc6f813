import { isIP } from 'node:net';

export type FleetMode = 'path' | 'port' | 'address';

export interface FleetOptions {
  /** How many sites, 1 to 65000. */
  sites: number;
  /** The same seed and time give the same fleet. Default 1. */
  seed?: number | undefined;
  /** Loopback address to listen on. Default 127.0.0.1. */
  host?: string | undefined;
  /** First port; 0, the default, takes a free one. */
  port?: number | undefined;
  /** `path`: one listener, /site-0007/ per site (default). `port`, `address`: a listener per site. */
  mode?: FleetMode | undefined;
  /** `distinct` is short for mode `address`, `one` for mode `path`. */
  addresses?: 'one' | 'distinct' | undefined;
  /** Plugins per site, the child plugin among them. Default 8 to 30 by seed. */
  plugins?: number | undefined;
  /** PEM; the fleet then speaks https. */
  tls?: { key: string; cert: string } | undefined;
  /** Login and password of every site; by default each site has its own. */
  admin?: string | undefined;
  password?: string | undefined;
  /** False skips the computation of signatures. Default true. */
  verify?: boolean | undefined;
  /** True keeps the framed stats answer of a site while nothing changes there. Default false. */
  cache?: boolean | undefined;
  /** False keeps no log of calls. Default true. */
  keepCalls?: boolean | undefined;
  /** True serves the control path, which sets faults over HTTP. Default false. */
  control?: boolean | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

const MAX_SITES = 65000;

/** The options with all defaults. Throws a RangeError that names an invalid option. */
export function completeOptions(options: FleetOptions) {
  whole('sites', options.sites, 1, MAX_SITES);
  whole('seed', options.seed ?? 1, 0, 0xffffffff);
  whole('port', options.port ?? 0, 0, 65535);
  if (options.plugins !== undefined) whole('plugins', options.plugins, 1, 5000);
  const host = options.host ?? '127.0.0.1';
  if (!isLoopback(host))
    throw new RangeError(`host: ${host} is not a loopback address; use 127.0.0.1, ::1 or localhost`);
  const mode = options.mode ?? (options.addresses === 'distinct' ? 'address' : 'path');
  if (!['path', 'port', 'address'].includes(mode)) throw new RangeError(`mode: ${mode} is not path, port or address`);
  return {
    ...options,
    mode,
    host,
    seed: options.seed ?? 1,
    port: options.port ?? 0,
    verify: options.verify ?? true,
    cache: options.cache ?? false,
    keepCalls: options.keepCalls ?? true,
    control: options.control ?? false,
    now: options.now ?? Date.now,
  };
}

export type CompleteOptions = ReturnType<typeof completeOptions>;

function whole(name: string, value: unknown, min: number, max: number): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${name}: expected a whole number from ${min} to ${max}, got ${String(value)}`);
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
