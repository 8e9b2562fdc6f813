/** The only reader of the environment. One table holds every variable: its name, default, meaning and what it accepts. */

import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Parser } from './config-values.js';
import {
  anyText,
  baseUrl,
  databaseUrl,
  flag,
  hostName,
  integer,
  oneOf,
  password,
  secretKey,
  subset,
  userName,
} from './config-values.js';
import type { Config } from './context.js';
import { MODULES, TOOLSETS } from './context.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigProblem {
  /** The variable, for example `SITEFLEET_PORT`. */
  name: string;
  /** What is wrong and what is allowed; never the value of a secret. */
  message: string;
}

/** One or more variables cannot be used. The message lists all of them. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map((problem) => `${problem.name}: ${problem.message}`).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

interface Variable<K extends keyof Config = keyof Config> {
  name: string;
  key: K;
  meaning: string;
  /** Shown in the documentation; the value itself comes from `fallback`. */
  shown: string;
  fallback: (env: Environment) => Config[K];
  parse: Parser<Config[K]>;
  secret?: true;
}

function variable<K extends keyof Config>(
  name: string,
  key: K,
  fallback: Config[K] | ((env: Environment) => Config[K]),
  parse: Parser<Config[K]>,
  meaning: string,
  extra: { shown?: string; secret?: true } = {},
): Variable {
  const made: Variable<K> = {
    name: `SITEFLEET_${name}`,
    key,
    meaning,
    shown: extra.shown ?? (fallback === null ? '' : defaultText(fallback)),
    fallback: typeof fallback === 'function' ? fallback : () => fallback,
    parse,
    ...(extra.secret ? { secret: true } : {}),
  };
  // The table mixes keys; each row was checked against its own key just above.
  return made as unknown as Variable;
}

function defaultText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return Array.isArray(value) ? value.join(',') : String(value);
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const HOUR = 3_600_000;

const VARIABLES: readonly Variable[] = [
  variable(
    'DB',
    'db',
    defaultDatabase,
    databaseUrl,
    'Where the data is: a file, or a libSQL server (`libsql://`, `https://`, `http://`, `wss://`, `ws://`).',
    { shown: 'file:~/.local/share/sitefleet/sitefleet.db' },
  ),
  variable('DB_TOKEN', 'db_token', null, anyText, 'Access token of the libSQL server.', { secret: true }),
  variable('HOST', 'host', '127.0.0.1', hostName, 'Address to listen on. `0.0.0.0` listens on all: put TLS in front.'),
  variable('PORT', 'port', 8787, integer(0, 65_535), 'Port to listen on. `0` takes a free one.'),
  variable(
    'BASE_URL',
    'base_url',
    null,
    baseUrl,
    'Address under which clients reach the service, used in links such as `status_url`.',
    { shown: 'http://HOST:PORT' },
  ),
  variable(
    'SECRET_KEY',
    'secret_key',
    null,
    secretKey,
    'Key that seals the stored secrets: 32 bytes as 64 hex digits or as base64. Instead of the key file.',
    { secret: true },
  ),
  variable(
    'SECRET_KEY_FILE',
    'secret_key_file',
    null,
    anyText,
    'File with that key. Created on the first start with mode 0600. Back it up apart from the database.',
    { shown: 'secret.key beside the database' },
  ),
  variable('ADMIN_USER', 'admin_user', null, userName, 'Name of the first user, made on the first start.', {
    shown: 'admin',
  }),
  variable('ADMIN_PASSWORD', 'admin_password', null, password, 'Password of the first user.', {
    shown: 'generated and shown once',
    secret: true,
  }),
  variable('MODULES', 'modules', MODULES, subset(MODULES), 'Optional parts that are switched on; `none` for no part.'),
  variable(
    'TOOLSETS',
    'toolsets',
    TOOLSETS,
    subset(TOOLSETS),
    'Groups of operations that assistants see over MCP; `none` for no group.',
  ),
  variable('READ_ONLY', 'read_only', false, flag, 'Refuse every operation that changes something.'),
  variable(
    'BATCH_THRESHOLD',
    'batch_threshold',
    200,
    integer(0, 1_000_000),
    'Calls on more sites than this are queued.',
  ),
  variable('JOB_CHUNK', 'job_chunk', 20, integer(1, 10_000), 'Sites per step of a queued job.'),
  variable('JOB_DELAY_MS', 'job_delay_ms', 30_000, integer(0, 24 * HOUR), 'Wait between the steps of a job.'),
  variable('JOB_TIMEOUT_MS', 'job_timeout_ms', 4 * HOUR, integer(1000, 30 * 24 * HOUR), 'A job that runs longer ends.'),
  variable('JOB_TTL_MS', 'job_ttl_ms', 24 * HOUR, integer(1000, 365 * 24 * HOUR), 'Ended jobs are kept this long.'),
  variable('CONCURRENCY', 'concurrency', 50, integer(1, 1000), 'Sites worked on at the same time.'),
  variable('PER_HOST', 'per_host', 2, integer(1, 100), 'Requests in flight to one host.'),
  variable('SITE_TIMEOUT_MS', 'site_timeout_ms', 30_000, integer(100, HOUR), 'Longest call to one site.'),
  variable(
    'ALLOW_PRIVATE_SITES',
    'allow_private_sites',
    false,
    flag,
    'Allow sites on loopback and private networks. They are refused otherwise.',
  ),
  variable(
    'RATE_LIMIT',
    'rest_rate_limit',
    60_000,
    integer(0, 100_000_000),
    'REST requests of one key per minute; `0` for no limit.',
  ),
  variable('LOG_LEVEL', 'log_level', 'info', oneOf(LOG_LEVELS), 'How much is logged, as JSON lines on stderr.'),
  variable(
    'TRUST_PROXY',
    'trust_proxy',
    false,
    flag,
    'Believe `X-Forwarded-For` and `X-Forwarded-Proto`. Only behind a proxy that sets them.',
  ),
];

/**
 * The settled configuration from the environment, with `overrides` (already typed, from the command line) on top.
 * Throws ConfigError with every problem at once. An empty variable counts as not set.
 */
export function readConfig(env: Environment = process.env, overrides: Partial<Config> = {}): Config {
  const problems: ConfigProblem[] = [];
  const settled: Partial<Record<keyof Config, unknown>> = {};
  for (const row of VARIABLES) {
    const raw = env[row.name] ?? '';
    const text = row.key === 'admin_password' ? raw : raw.trim();
    const parsed = text === '' ? { value: row.fallback(env) } : row.parse(text);
    if ('value' in parsed) settled[row.key] = parsed.value;
    else problems.push({ name: row.name, message: problemText(row, text, parsed.allowed) });
  }
  problems.push(...unknownVariables(env));
  const config = { ...(settled as unknown as Config), ...overrides };
  if (config.secret_key !== null && config.secret_key_file !== null) {
    problems.push({
      name: 'SITEFLEET_SECRET_KEY_FILE',
      message: 'is set together with SITEFLEET_SECRET_KEY. Set only one of the two.',
    });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...config, secret_key_file: config.secret_key === null ? keyFileOf(config, env) : null };
}

/** Rows of the documentation's table of variables. */
export function describeConfig(): { name: string; default: string; meaning: string }[] {
  return VARIABLES.map((row) => ({ name: row.name, default: row.shown, meaning: row.meaning }));
}

function problemText(row: Variable, text: string, allowed: string): string {
  return row.secret
    ? `has a value that cannot be used. Allowed: ${allowed}.`
    : `${JSON.stringify(text)} cannot be used. Allowed: ${allowed}.`;
}

/** Set by others: test switches, and what Kubernetes injects for a service that is named after us. */
const FOREIGN = /^SITEFLEET_(TEST_|SERVICE_(HOST|PORT)|PORT_\d+_TCP)/;

/** A misspelled variable would silently leave the default in force, which for READ_ONLY is the dangerous side. */
function unknownVariables(env: Environment): ConfigProblem[] {
  const known = new Set(VARIABLES.map((row) => row.name));
  return Object.keys(env)
    .filter((name) => name.startsWith('SITEFLEET_') && !known.has(name) && !FOREIGN.test(name))
    .map((name) => ({ name, message: 'is not a variable of Sitefleet. Check its spelling.' }));
}

/** The user's data folder after the XDG rules; `%LOCALAPPDATA%` on Windows. */
function dataFolder(env: Environment): string {
  const xdg = env.XDG_DATA_HOME;
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'sitefleet');
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'sitefleet');
  return join(env.HOME || homedir(), '.local', 'share', 'sitefleet');
}

function defaultDatabase(env: Environment): string {
  return fileUrl(join(dataFolder(env), 'sitefleet.db'));
}

/** Beside a database file; in the data folder for a remote one; none for memory, whose secrets die with it. */
function keyFileOf(config: Config, env: Environment): string | null {
  if (config.secret_key_file !== null) return config.secret_key_file;
  if (config.db === ':memory:') return null;
  const file = databaseFile(config.db);
  return file === null ? join(dataFolder(env), 'secret.key') : join(dirname(file), 'secret.key');
}

/** Path of a `file:` database, else null. */
export function databaseFile(url: string): string | null {
  if (!url.startsWith('file:') || url === 'file::memory:') return null;
  return url.startsWith('file://') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
}

/** The URL of a database file. */
export function fileUrl(path: string): string {
  return `file:${path.replace(/[%?#]/g, (char) => encodeURIComponent(char))}`;
}
