/** The only reader of the environment. One table holds every variable: its name, default, meaning and what it accepts. */

import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileUrl } from '../file-url.js';
import { maskedUrl } from '../masked-url.js';
import type { Parser } from './parsers.js';
import {
  accessKey,
  anyText,
  baseUrl,
  bearerToken,
  bucketUrl,
  containerCommand,
  databaseUrl,
  feedLocation,
  filePath,
  flag,
  headerToken,
  hostName,
  httpUrl,
  integer,
  issuerUrl,
  mailAddress,
  oneOf,
  origins,
  password,
  regionName,
  scopeToken,
  secretKey,
  smtpUrl,
  subset,
  toolNames,
  userName,
} from './parsers.js';
import type { Config } from './types.js';
import { CONFIRM_POLICIES, DEFAULT_TOOLSETS, MODULES, SAFE_UPDATES, TOOLSETS } from './types.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigProblem {
  /** The variable, for example `SITEFLEET_PORT`. */
  name: string;
  /** What is wrong and what is allowed; never the value of a secret. */
  message: string;
}

/** One or more variables are invalid. The message lists all of them. */
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
  /** It is no secret itself, but people put the secret that belongs to it there. */
  unquoted?: true;
}

/** A row of the table. The variable is named like its key, in capitals. */
function variable<K extends keyof Config>(
  key: K,
  fallback: Config[K] | ((env: Environment) => Config[K]),
  parse: Parser<Config[K]>,
  meaning: string,
  extra: { name?: string; shown?: string; secret?: true; unquoted?: true } = {},
): Variable {
  const made: Variable<K> = {
    name: `SITEFLEET_${extra.name ?? key.toUpperCase()}`,
    key,
    meaning,
    shown: extra.shown ?? (fallback === null ? '' : defaultText(fallback)),
    fallback: typeof fallback === 'function' ? fallback : () => fallback,
    parse,
    ...(extra.secret ? { secret: true } : {}),
    ...(extra.unquoted ? { unquoted: true } : {}),
  };
  // The table mixes keys; each row was checked against its own key just above.
  return made as unknown as Variable;
}

function defaultText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return Array.isArray(value) ? value.join(',') : String(value);
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const VARIABLES: readonly Variable[] = [
  variable(
    'db',
    defaultDatabase,
    databaseUrl,
    'Where the data is stored: a file, or a libSQL server (`libsql://`, `https://`, `http://`, `wss://`, `ws://`).',
    { shown: 'file:~/.local/share/sitefleet/sitefleet.db' },
  ),
  variable('db_token', null, anyText, 'Access token of the libSQL server.', { secret: true }),
  variable(
    'backup_dir',
    null,
    filePath,
    'Folder for daily, verified backups of the database file. Use a separate folder.',
  ),
  variable(
    'site_backup_dir',
    (env) => join(dataFolder(env), 'site-backups'),
    filePath,
    'Folder for the sealed backups of sites. Do not use the disk that the sites are on.',
    { shown: '~/.local/share/sitefleet/site-backups' },
  ),
  variable(
    'site_backup_s3',
    null,
    bucketUrl,
    'Bucket of an S3-compatible server in place of that folder: `https://HOST/BUCKET`, or with a prefix `https://HOST/BUCKET/PREFIX`.',
  ),
  variable('site_backup_s3_region', null, regionName, 'Region of the bucket.', {
    shown: 'the one in the host name, or us-east-1',
  }),
  variable('site_backup_s3_key', null, accessKey, 'Id of an access key that may list, read, write and delete there.', {
    unquoted: true,
  }),
  variable('site_backup_s3_secret', null, anyText, 'The secret of that access key.', { secret: true }),
  variable(
    'drills',
    false,
    flag,
    'Restore backups on this machine, confined, to prove them. Code from the sites then runs here: read docs/backups.md first.',
  ),
  variable('drill_dir', null, filePath, 'Folder for these throw-away copies.', {
    shown: 'the folder for temporary files',
  }),
  variable('drill_path', null, anyText, 'Folders with php-cgi and MariaDB, separated as in `PATH`.', {
    shown: 'the usual ones',
  }),
  variable('drill_playground', null, filePath, 'Folder of `@wp-playground/cli`, used where these are missing.', {
    shown: 'the usual ones',
  }),
  variable(
    'drill_container',
    null,
    containerCommand,
    'Command for a container in which copies run instead: `docker run IMAGE`.',
  ),
  variable(
    'host',
    '127.0.0.1',
    hostName,
    'Address to listen on. `0.0.0.0` listens on all addresses: put TLS in front.',
  ),
  variable('port', 8787, integer(0, 65_535), 'Port to listen on. `0` picks a free one.'),
  variable(
    'base_url',
    null,
    baseUrl,
    'Address under which clients reach the service, used in links. Requests for other host names are refused; on loopback, the names of this machine work as well.',
    { shown: 'http://HOST:PORT' },
  ),
  variable(
    'cors_origins',
    [],
    origins,
    'Origins whose pages may call from a browser, with a token of their own, comma-separated: `https://app.example`.',
  ),
  variable(
    'secret_key',
    null,
    secretKey,
    'Key that encrypts the stored secrets: 32 bytes as 64 hex digits or base64. Replaces the key file.',
    { secret: true },
  ),
  variable(
    'secret_key_file',
    null,
    anyText,
    'File with that key, created on the first start with mode 0600. Back it up separately from the database.',
    { shown: 'secret.key beside the database' },
  ),
  variable('admin_user', null, userName, 'Name of the first user, created on the first start.', {
    shown: 'admin',
  }),
  variable('admin_password', null, password, 'Password of the first user.', {
    shown: 'generated and shown once',
    secret: true,
  }),
  variable('modules', MODULES, subset(MODULES), 'Optional modules to enable; `none` for none.'),
  variable(
    'toolsets',
    null,
    subset(TOOLSETS),
    `Groups of operations that assistants may use over MCP; \`none\` for none. If unset, these are shown, and a connection may ask for others: ${TOOLSETS.filter((name) => !DEFAULT_TOOLSETS.includes(name)).join(', ')}.`,
    { shown: DEFAULT_TOOLSETS.join(',') },
  ),
  variable('tools_allow', [], toolNames, 'Only these tools over MCP, comma-separated, such as `list-sites,get-site`.', {
    shown: 'all',
  }),
  variable('tools_block', [], toolNames, 'All tools except these over MCP, comma-separated.', {
    shown: 'none',
  }),
  variable('read_only', false, flag, 'Refuse every operation that changes anything.'),
  variable(
    'batch_threshold',
    200,
    integer(0, 1_000_000),
    'Calls on more sites than this become queued jobs. The setting `svc_abilities_batch_threshold` overrides it.',
  ),
  variable('job_chunk', 20, integer(1, 10_000), 'Sites per step of a queued job.'),
  variable('job_delay_ms', 30_000, integer(0, 24 * HOUR), 'Wait between the steps of a job.'),
  variable('job_timeout_ms', 4 * HOUR, integer(1000, 30 * 24 * HOUR), 'Jobs that run longer are ended.'),
  variable('job_ttl_ms', 24 * HOUR, integer(1000, 365 * 24 * HOUR), 'Ended jobs are kept this long.'),
  variable(
    'log_days',
    1096,
    integer(1, 36_500),
    'Days for which the action log, and what others changed on the sites, are kept.',
  ),
  variable('concurrency', 50, integer(1, 1000), 'Sites worked on at the same time.'),
  variable('per_host', 2, integer(1, 100), 'Requests in flight to one host.'),
  variable(
    'site_timeout_ms',
    30_000,
    integer(100, HOUR),
    'Time limit of a call to one site that installs nothing. A shutdown waits this long for changes in progress.',
  ),
  variable(
    'direct_call_ms',
    40_000,
    integer(1000, HOUR),
    'A call on sites answers within this time; the rest continues as a job. Many clients hang up after 60 s.',
  ),
  variable(
    'update_wait_ms',
    60_000,
    integer(0, HOUR),
    'How long a site that is silent or in maintenance mode is checked again after the connection broke during an update.',
  ),
  variable('allow_private_sites', false, flag, 'Allow sites on loopback and private networks.'),
  variable(
    'safe_updates',
    'guarded',
    oneOf(SAFE_UPDATES),
    '`guarded`: on sites with a guard every update is checked, and rolled back if it breaks the site. `off`: updates as if there were no guard, and no version is quarantined.',
  ),
  variable(
    'rest_rate_limit',
    60_000,
    integer(0, 100_000_000),
    'REST requests of one key per minute; `0` for no limit.',
    { name: 'RATE_LIMIT' },
  ),
  variable(
    'confirm',
    'ask',
    oneOf(CONFIRM_POLICIES),
    'What MCP tools require before they delete, or change several sites because their list is empty: `ask` (a person, through the client; where it cannot ask, as `confirm`), `confirm` (for deletions `confirm: true`), `preview` (a token from a preview of the same call) or `elicit` (a person; where the client cannot ask, as `preview`).',
  ),
  variable('confirm_timeout_ms', 5 * MINUTE, integer(1000, HOUR), 'How long a person has to answer such a question.'),
  variable(
    'mcp_max_tokens',
    5_000,
    integer(1000, 1_000_000),
    'Largest answer of one MCP call, in estimated tokens. Larger ones are cut, except pages of a size that was named, and say how to get the rest.',
  ),
  variable(
    'oauth_issuer',
    null,
    issuerUrl,
    'Authorization server whose access tokens `/mcp` accepts, exactly as in their `iss`. Requires the key URL, and a base URL or an audience.',
  ),
  variable('oauth_jwks_url', null, httpUrl, 'Where that server publishes its signing keys (JWKS).'),
  variable('oauth_audience', null, anyText, 'Value that the `aud` of a token must contain.', {
    shown: 'BASE_URL/mcp',
  }),
  variable(
    'oauth_read_scope',
    'sitefleet:read',
    scopeToken,
    'Scope that lets a token read. The write scope includes it.',
  ),
  variable('oauth_write_scope', 'sitefleet:write', scopeToken, 'Scope that lets a token make changes.'),
  variable(
    'lighthouse',
    null,
    anyText,
    'Command or folder of Lighthouse, for performance audits on this machine: `npm install --global lighthouse@12.8.2`.',
    { shown: 'beside Sitefleet, or the usual places' },
  ),
  variable(
    'chromium',
    null,
    anyText,
    'Path of Chromium or Chrome, for audits by Lighthouse, and for viewing pages during safe updates: chromium-headless-shell takes a third of the CPU.',
    { shown: 'the usual places, for audits only' },
  ),
  variable(
    'pictures_ms',
    20_000,
    integer(0, HOUR),
    'How long the safe updates of a site look at its pages in that browser; `0` for not at all. At most two browsers run at a time.',
  ),
  variable(
    'pagespeed_url',
    'https://www.googleapis.com/pagespeedonline/v5/runPagespeed',
    httpUrl,
    'Address of the PageSpeed Insights API.',
  ),
  variable(
    'vulnerability_feed',
    null,
    feedLocation,
    'Known vulnerabilities: URL or file of a feed in the format of Wordfence Intelligence v3, read daily.',
  ),
  variable('vulnerability_key', null, headerToken, 'Your key for that feed, sent as bearer token, over https only.', {
    secret: true,
  }),
  variable(
    'smtp_url',
    null,
    smtpUrl,
    'Mail server, with login: `smtp://user:password@host:587` or `smtps://…:465`. Without it no mail is sent.',
    { secret: true },
  ),
  variable('mail_from', null, mailAddress, 'Sender of mail: an address, optionally with a name.', {
    shown: 'the SMTP login',
  }),
  variable(
    'metrics_token',
    null,
    bearerToken,
    'Bearer token for `/metrics`. Without it, only this machine may read it.',
    { secret: true },
  ),
  variable('log_level', 'info', oneOf(LOG_LEVELS), 'Log level. Logs are JSON lines on stderr.'),
  variable(
    'trust_proxy',
    false,
    flag,
    'Trust `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`. Only behind a proxy that sets these headers.',
  ),
  variable(
    'basic_challenge',
    false,
    flag,
    'Send `WWW-Authenticate: Basic` when a login is missing. Browsers then ask for one and remember it.',
  ),
];

/**
 * The complete configuration from the environment, with `overrides` (already typed, from the command line) applied.
 * Throws ConfigError with every problem at once. An empty variable counts as not set.
 * @param standards defaults in place of those of the table, for variables that are not set
 */
export function readConfig(
  env: Environment = process.env,
  overrides: Partial<Config> = {},
  standards: Partial<Config> = {},
): Config {
  const problems: ConfigProblem[] = [];
  const settled: Partial<Record<keyof Config, unknown>> = {};
  for (const row of VARIABLES) {
    const found = rawText(row, env);
    if (typeof found !== 'string') {
      problems.push(found);
      continue;
    }
    const text = row.key === 'admin_password' ? found : found.trim();
    const standard = () => standards[row.key] ?? row.fallback(env);
    const parsed = text === '' ? { value: standard() } : row.parse(text);
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
  if (config.backup_dir !== null && databaseFile(config.db) === null) {
    problems.push({
      name: 'SITEFLEET_BACKUP_DIR',
      message:
        'is for a database in a file, but SITEFLEET_DB names none. Remove it; a libSQL server has backups of its own.',
    });
  }
  problems.push(...feedProblems(config), ...oauthProblems(config), ...bucketProblems(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...config, secret_key_file: config.secret_key === null ? keyFileOf(config, env) : null };
}

/** The feed's key must not be sent where anyone can read it, nor be set without effect. */
function feedProblems(config: Config): ConfigProblem[] {
  const { vulnerability_feed: feed, vulnerability_key: key } = config;
  if (key === null) return [];
  const name = 'SITEFLEET_VULNERABILITY_KEY';
  if (feed === null) return [{ name: 'SITEFLEET_VULNERABILITY_FEED', message: `is missing, although ${name} is set.` }];
  if (!/^https?:/i.test(feed)) return [{ name, message: 'is for a URL, but SITEFLEET_VULNERABILITY_FEED is a file.' }];
  const { protocol, hostname } = new URL(feed);
  return protocol === 'https:' || /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname)
    ? []
    : [{ name, message: 'would be sent unencrypted: SITEFLEET_VULNERABILITY_FEED must be an https URL.' }];
}

/** A bucket is not used without its key; and a key without a bucket would leave backups in the folder. */
function bucketProblems(config: Config): ConfigProblem[] {
  const { site_backup_s3, site_backup_s3_region, site_backup_s3_key, site_backup_s3_secret } = config;
  const others = { REGION: site_backup_s3_region, KEY: site_backup_s3_key, SECRET: site_backup_s3_secret };
  if (site_backup_s3 === null)
    return Object.values(others).every((value) => value === null)
      ? []
      : [{ name: 'SITEFLEET_SITE_BACKUP_S3', message: 'is missing, although other variables of the bucket are set.' }];
  return (['KEY', 'SECRET'] as const)
    .filter((name) => others[name] === null)
    .map((name) => ({
      name: `SITEFLEET_SITE_BACKUP_S3_${name}`,
      message: 'is missing: SITEFLEET_SITE_BACKUP_S3 needs it.',
    }));
}

/** Whether `NAME_FILE` may name a file with the value. Some secrets have their own file variable, which does more. */
function takesFile(row: Variable): boolean {
  return row.secret === true && !VARIABLES.some(({ name }) => name === `${row.name}_FILE`);
}

/**
 * The text of a variable, or of the file that its `_FILE` names, without the trailing line break; '' if neither is set.
 */
function rawText(row: Variable, env: Environment): string | ConfigProblem {
  const raw = env[row.name] ?? '';
  const name = `${row.name}_FILE`;
  const file = takesFile(row) ? (env[name] ?? '').trim() : '';
  if (file === '') return raw;
  if (raw !== '') return { name, message: `is set together with ${row.name}. Set only one of the two.` };
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return {
      name,
      message: `${JSON.stringify(file)} cannot be read (${code}). Name a file this process can read.`,
    };
  }
  // Treated as "not set", an empty secret would silently leave access open or closed.
  return text.trim() === '' ? { name, message: `${JSON.stringify(file)} is empty. Put the value into it.` } : text;
}

/** A token meant for another service must not open this one, so the audience is never guessed. */
function oauthProblems(config: Config): ConfigProblem[] {
  const { oauth_issuer, oauth_jwks_url, oauth_audience, base_url } = config;
  if (oauth_issuer === null)
    return oauth_jwks_url === null && oauth_audience === null
      ? []
      : [{ name: 'SITEFLEET_OAUTH_ISSUER', message: 'is missing, although other SITEFLEET_OAUTH_ variables are set.' }];
  const problems: ConfigProblem[] = [];
  if (oauth_jwks_url === null)
    problems.push({ name: 'SITEFLEET_OAUTH_JWKS_URL', message: 'is missing: SITEFLEET_OAUTH_ISSUER needs it.' });
  if (oauth_audience === null && base_url === null)
    problems.push({
      name: 'SITEFLEET_OAUTH_AUDIENCE',
      message: 'is missing: SITEFLEET_OAUTH_ISSUER needs it, or SITEFLEET_BASE_URL.',
    });
  return problems;
}

/** Rows of the documented table of variables. */
export function describeConfig(): { name: string; default: string; meaning: string; secret: boolean }[] {
  return VARIABLES.map((row) => ({
    name: row.name,
    default: row.shown,
    secret: row.secret === true,
    meaning: takesFile(row) ? `${row.meaning} Or \`${row.name}_FILE\`, a file with it.` : row.meaning,
  }));
}

function problemText(row: Variable, text: string, allowed: string): string {
  return row.secret || row.unquoted
    ? `has an invalid value. Allowed: ${allowed}.`
    : `${JSON.stringify(maskedUrl(text))} is not valid. Allowed: ${allowed}.`;
}

/** Variables set by others: test switches, and what Kubernetes injects for a service of the same name. */
const FOREIGN = /^SITEFLEET_(TEST_|SERVICE_(HOST|PORT)|PORT_\d+_TCP)/;

/** A misspelled variable would silently leave the default in effect, which for READ_ONLY is the dangerous side. */
function unknownVariables(env: Environment): ConfigProblem[] {
  const known = new Set(VARIABLES.flatMap((row) => [row.name, ...(takesFile(row) ? [`${row.name}_FILE`] : [])]));
  return Object.keys(env)
    .filter((name) => name.startsWith('SITEFLEET_') && !known.has(name) && !FOREIGN.test(name))
    .map((name) => ({ name, message: 'is not a variable of Sitefleet. Check its spelling.' }));
}

/** The user's data folder by the XDG rules; `%LOCALAPPDATA%` on Windows. */
function dataFolder(env: Environment): string {
  const xdg = env.XDG_DATA_HOME;
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'sitefleet');
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'sitefleet');
  const home = env.HOME !== undefined && isAbsolute(env.HOME) ? env.HOME : homeOfAccount();
  return join(home, '.local', 'share', 'sitefleet');
}

/** Without HOME. Containers run under numbers that no account has. */
function homeOfAccount(): string {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : userInfo().homedir;
  } catch {
    const message =
      'must be the absolute path of a folder, as this user has no account that would tell. Or set XDG_DATA_HOME.';
    throw new ConfigError([{ name: 'HOME', message }]);
  }
}

function defaultDatabase(env: Environment): string {
  return fileUrl(join(dataFolder(env), 'sitefleet.db'));
}

/**
 * Next to a database file; in the data folder for a remote database; none for a database in memory, whose secrets are
 * not kept.
 */
function keyFileOf(config: Config, env: Environment): string | null {
  if (config.secret_key_file !== null) return config.secret_key_file;
  if (config.db === ':memory:') return null;
  const file = databaseFile(config.db);
  return file === null ? join(dataFolder(env), 'secret.key') : join(dirname(file), 'secret.key');
}

/** Path of a `file:` database, otherwise null. */
export function databaseFile(url: string): string | null {
  if (!url.startsWith('file:') || url === 'file::memory:') return null;
  return url.startsWith('file://') ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
}
