import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ConfigError, databaseFile, describeConfig, readConfig } from '../../src/runtime/config/config.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import { tempFolder } from '../support/cleanup.js';

const home = { HOME: '/home/someone' };

function problems(env: Record<string, string>): Record<string, string> {
  try {
    readConfig({ ...home, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return Object.fromEntries(error.problems.map((p) => [p.name, p.message]));
    throw error;
  }
  return {};
}

describe('readConfig', () => {
  it('has the documented defaults', () => {
    expect(readConfig(home)).toEqual({
      db: 'file:/home/someone/.local/share/sitefleet/sitefleet.db',
      db_token: null,
      backup_dir: null,
      drills: false,
      drill_dir: null,
      drill_path: null,
      drill_playground: null,
      drill_container: null,
      host: '127.0.0.1',
      port: 8787,
      base_url: null,
      cors_origins: [],
      secret_key: null,
      secret_key_file: '/home/someone/.local/share/sitefleet/secret.key',
      site_backup_dir: '/home/someone/.local/share/sitefleet/site-backups',
      site_backup_s3: null,
      site_backup_s3_region: null,
      site_backup_s3_key: null,
      site_backup_s3_secret: null,
      admin_user: null,
      admin_password: null,
      modules: [
        'logs',
        'cost-tracker',
        'comments',
        'ssl-monitor',
        'domain-monitor',
        'perf-audit',
        'pro-reports',
        'time-tracker',
      ],
      toolsets: null,
      tools_allow: [],
      tools_block: [],
      read_only: false,
      trust_proxy: false,
      log_level: 'info',
      batch_threshold: 200,
      rest_rate_limit: 60_000,
      job_chunk: 20,
      job_delay_ms: 30_000,
      job_timeout_ms: 14_400_000,
      job_ttl_ms: 86_400_000,
      log_days: 1096,
      concurrency: 50,
      per_host: 2,
      site_timeout_ms: 30_000,
      direct_call_ms: 40_000,
      update_wait_ms: 60_000,
      allow_private_sites: false,
      safe_updates: 'guarded',
      lighthouse: null,
      chromium: null,
      pictures_ms: 20_000,
      pagespeed_url: 'https://www.googleapis.com/pagespeedonline/v5/runPagespeed',
      vulnerability_feed: null,
      vulnerability_key: null,
      smtp_url: null,
      mail_from: null,
      confirm: 'ask',
      confirm_timeout_ms: 300_000,
      mcp_max_tokens: 5_000,
      oauth_issuer: null,
      oauth_jwks_url: null,
      oauth_audience: null,
      oauth_read_scope: 'sitefleet:read',
      oauth_write_scope: 'sitefleet:write',
      metrics_token: null,
      basic_challenge: false,
    });
  });

  it.each(['', 'home', './x'])(
    'keeps the data of HOME=%s in the home folder of the user, wherever it starts',
    (HOME) => {
      vi.stubEnv('HOME', HOME);
      try {
        expect(readConfig({ HOME }).db).toBe(`file:${join(userInfo().homedir, '.local/share/sitefleet/sitefleet.db')}`);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );

  it('follows XDG_DATA_HOME, and ignores a relative one', () => {
    expect(readConfig({ ...home, XDG_DATA_HOME: '/data' }).db).toBe('file:/data/sitefleet/sitefleet.db');
    expect(readConfig({ ...home, XDG_DATA_HOME: 'data' }).db).toBe(
      'file:/home/someone/.local/share/sitefleet/sitefleet.db',
    );
  });

  it('puts the key file beside the database, or in the data folder for a server', () => {
    expect(readConfig({ ...home, SITEFLEET_DB: 'file:/srv/fleet/x.db' }).secret_key_file).toBe('/srv/fleet/secret.key');
    expect(readConfig({ ...home, SITEFLEET_DB: 'libsql://x.example' }).secret_key_file).toBe(
      '/home/someone/.local/share/sitefleet/secret.key',
    );
    expect(readConfig({ ...home, SITEFLEET_DB: ':memory:' }).secret_key_file).toBeNull();
    expect(readConfig({ ...home, SITEFLEET_SECRET_KEY: 'a'.repeat(64) }).secret_key_file).toBeNull();
  });

  it('reads every form of every variable', () => {
    const config = readConfig({
      ...home,
      SITEFLEET_PORT: '0',
      SITEFLEET_HOST: '[::1]',
      SITEFLEET_BASE_URL: 'https://fleet.example/base/',
      SITEFLEET_CORS_ORIGINS: 'https://App.example/, http://localhost:3000',
      SITEFLEET_READ_ONLY: 'Yes',
      SITEFLEET_MODULES: 'logs, comments',
      SITEFLEET_TOOLSETS: 'none',
      SITEFLEET_LOG_LEVEL: 'DEBUG',
      SITEFLEET_JOB_DELAY_MS: ' 0 ',
      SITEFLEET_ADMIN_PASSWORD: ' with blanks ',
      SITEFLEET_DB_TOKEN: '',
    });
    expect(config).toMatchObject({
      port: 0,
      host: '::1',
      base_url: 'https://fleet.example/base',
      cors_origins: ['https://app.example', 'http://localhost:3000'],
      read_only: true,
      modules: ['logs', 'comments'],
      toolsets: [],
      log_level: 'debug',
      job_delay_ms: 0,
      admin_password: ' with blanks ',
      db_token: null,
    });
  });

  it('takes a folder for backups for a database file only', () => {
    expect(readConfig({ ...home, SITEFLEET_BACKUP_DIR: '/backups' }).backup_dir).toBe('/backups');
    for (const db of [':memory:', 'libsql://fleet.example'])
      expect(problems({ SITEFLEET_BACKUP_DIR: '/backups', SITEFLEET_DB: db }).SITEFLEET_BACKUP_DIR).toMatch(
        /in a file/,
      );
  });

  it('takes a vulnerability feed as URL or file, and a key only for an encrypted URL', () => {
    const feedOf = (text: string) => readConfig({ ...home, SITEFLEET_VULNERABILITY_FEED: text }).vulnerability_feed;
    expect(feedOf('https://feed.example/v3')).toBe('https://feed.example/v3');
    expect(feedOf('/data/feed.json')).toBe('/data/feed.json');
    expect(feedOf('file:///data/a%20feed.json')).toBe('/data/a feed.json');
    for (const text of ['ftp://feed.example/', 'https://user:secret@feed.example/'])
      expect(problems({ SITEFLEET_VULNERABILITY_FEED: text }).SITEFLEET_VULNERABILITY_FEED).toMatch(
        /http or https URL/,
      );
    const key = { SITEFLEET_VULNERABILITY_KEY: 'key-of-the-feed' };
    expect(problems(key).SITEFLEET_VULNERABILITY_FEED).toMatch(/is missing/);
    const withFeed = (text: string) => ({ ...key, SITEFLEET_VULNERABILITY_FEED: text });
    expect(problems(withFeed('/data/feed.json')).SITEFLEET_VULNERABILITY_KEY).toMatch(/is for a URL/);
    expect(problems(withFeed('http://feed.example/')).SITEFLEET_VULNERABILITY_KEY).toMatch(/unencrypted/);
    for (const text of ['https://feed.example/', 'http://127.0.0.1:8080/feed', 'http://localhost/feed'])
      expect(readConfig({ ...home, ...withFeed(text) }).vulnerability_key).toBe('key-of-the-feed');
  });

  it('lets the command line win', () => {
    expect(readConfig({ ...home, SITEFLEET_PORT: '1' }, { port: 2, host: '0.0.0.0' })).toMatchObject({
      port: 2,
      host: '0.0.0.0',
    });
  });

  it('names all problems at once, with value and what is allowed', () => {
    const found = problems({
      SITEFLEET_PORT: '70000',
      SITEFLEET_READ_ONLY: 'maybe',
      SITEFLEET_MODULES: 'logs,unknown',
      SITEFLEET_CONCURRENCY: '1.5',
      SITEFLEET_DB: 'mysql://x',
      SITEFLEET_BASE_URL: 'https://user@fleet.example',
      SITEFLEET_CORS_ORIGINS: '*',
    });
    expect(found.SITEFLEET_PORT).toBe('"70000" is not valid. Allowed: a whole number from 0 to 65535.');
    expect(found.SITEFLEET_READ_ONLY).toContain('1 or 0');
    expect(found.SITEFLEET_MODULES).toContain('cost-tracker');
    expect(found.SITEFLEET_CONCURRENCY).toContain('from 1 to 1000');
    expect(found.SITEFLEET_DB).toContain('libsql://');
    expect(found.SITEFLEET_BASE_URL).toContain('without login');
    expect(found.SITEFLEET_CORS_ORIGINS).toContain('without a path');
    expect(Object.keys(found)).toHaveLength(7);
  });

  it('never shows the value of a secret', () => {
    const found = problems({ SITEFLEET_SECRET_KEY: 'hunter2', SITEFLEET_ADMIN_PASSWORD: 'short' });
    expect(Object.keys(found)).toEqual(['SITEFLEET_SECRET_KEY', 'SITEFLEET_ADMIN_PASSWORD']);
    expect(JSON.stringify(found)).not.toMatch(/hunter2|short/);
  });

  it('refuses a misspelled variable, but not what Kubernetes injects', () => {
    expect(problems({ SITEFLEET_READONLY: '1' }).SITEFLEET_READONLY).toContain('spelling');
    expect(problems({ SITEFLEET_SERVICE_HOST: '10.0.0.1', SITEFLEET_PORT_8787_TCP_ADDR: '10.0.0.1' })).toEqual({});
  });

  it('reads every secret from a file as well, so that none has to stand in the environment', () => {
    const folder = tempFolder('secrets');
    const values = {
      SITEFLEET_DB_TOKEN: ['db_token', 'eyJ.token'],
      SITEFLEET_SITE_BACKUP_S3_SECRET: ['site_backup_s3_secret', 'wJalr/secret'],
      SITEFLEET_ADMIN_PASSWORD: ['admin_password', ' with blanks '],
      SITEFLEET_VULNERABILITY_KEY: ['vulnerability_key', 'key-of-the-feed'],
      SITEFLEET_SMTP_URL: ['smtp_url', 'smtp://u:p@mail.example:587'],
      SITEFLEET_METRICS_TOKEN: ['metrics_token', 'a'.repeat(20)],
    } as const;
    // The key has its own variable for a file. A new secret belongs in the list above, unless it has one, too.
    const names = describeConfig().map(({ name }) => name);
    const secrets = describeConfig().filter(({ name, secret }) => secret && !names.includes(`${name}_FILE`));
    expect(names).toContain('SITEFLEET_SECRET_KEY_FILE');
    expect(secrets.map(({ name }) => name)).toEqual(Object.keys(values));
    const feed = { SITEFLEET_VULNERABILITY_FEED: 'https://feed.example/v3' };
    const bucket = { SITEFLEET_SITE_BACKUP_S3: 'https://s3.example/bucket', SITEFLEET_SITE_BACKUP_S3_KEY: 'AKIA' };
    for (const [name, [key, value]] of Object.entries(values)) {
      const file = join(folder, name);
      writeFileSync(file, `${value}\n`);
      const others = name.includes('_S3_') ? bucket : feed;
      expect(readConfig({ ...home, ...others, [`${name}_FILE`]: file })[key]).toBe(value);
      expect(problems({ [`${name}_FILE`]: file, [name]: value })[`${name}_FILE`]).toContain(`together with ${name}`);
      expect(problems({ [`${name}_FILE`]: join(folder, 'none') })[`${name}_FILE`]).toContain('ENOENT');
      writeFileSync(file, '\n');
      expect(problems({ [`${name}_FILE`]: file })[`${name}_FILE`]).toContain('is empty');
      writeFileSync(file, '\0\n');
      const said = problems({ [`${name}_FILE`]: file });
      expect(Object.keys(said).length + Object.keys(values).length).toBeGreaterThan(3);
      // Documented at the variable.
      expect(describeConfig().find((row) => row.name === name)?.meaning).toContain(`\`${name}_FILE\``);
    }
    expect(problems({ SITEFLEET_PORT_FILE: '/x' }).SITEFLEET_PORT_FILE).toContain('spelling');
  });

  it('takes a bucket with its key, and neither alone', () => {
    const bucket = {
      SITEFLEET_SITE_BACKUP_S3: 'http://127.0.0.1:9000/sites/fleet-1/',
      SITEFLEET_SITE_BACKUP_S3_KEY: 'minio',
      SITEFLEET_SITE_BACKUP_S3_SECRET: 'hunter22',
    };
    expect(readConfig({ ...home, ...bucket })).toMatchObject({
      site_backup_s3: 'http://127.0.0.1:9000/sites/fleet-1',
      site_backup_s3_region: null,
    });
    for (const name of Object.keys(bucket)) {
      const found = problems({ ...bucket, [name]: '' });
      expect(Object.keys(found)).toEqual([name]);
      expect(found[name]).toContain('is missing');
    }
    for (const url of ['s3://sites', 'https://s3.example', 'https://u:p@s3.example/sites', 'https://s3.example/s?x=1'])
      expect(problems({ ...bucket, SITEFLEET_SITE_BACKUP_S3: url }).SITEFLEET_SITE_BACKUP_S3).toContain('Allowed');
    expect(JSON.stringify(problems({ ...bucket, SITEFLEET_SITE_BACKUP_S3: 'x' }))).not.toContain('hunter22');
  });

  it('refuses two sources of the key', () => {
    expect(problems({ SITEFLEET_SECRET_KEY: 'a'.repeat(64), SITEFLEET_SECRET_KEY_FILE: '/k' })).toHaveProperty(
      'SITEFLEET_SECRET_KEY_FILE',
    );
  });
});

describe('databaseFile', () => {
  it.each([
    ['file:/a/b.db', '/a/b.db'],
    ['file:///a/b.db', '/a/b.db'],
    ['file:b.db', 'b.db'],
    ['libsql://x', null],
    [':memory:', null],
  ])('%s → %s', (url, file) => expect(databaseFile(url)).toBe(file));
});

describe('describeConfig', () => {
  it.each([
    'postgres://u:SECRET@h/db',
    'https://u:SECRET@h.example/x',
    'https://u:SEC/SECRET@RET@h.example/x y',
    'u:SECRET@h.example',
    'https://a.example, ftp://u:SECRET@b.example',
    'ftp://h.example/x?token=SECRET',
  ])('shows no login of %s, whichever variable has it', (text) => {
    for (const { name } of describeConfig()) {
      const { [name]: message = '' } = problems({ [name]: text });
      expect([name, message]).toEqual([name, expect.not.stringMatching(/SECRET|SEC\/|RET@/)]);
    }
    expect(problems({ SITEFLEET_PORT: text }).SITEFLEET_PORT).toMatch(/^".*….*" is not valid/);
  });

  it('never quotes a key, which people may have written with its secret', () => {
    const { SITEFLEET_SITE_BACKUP_S3_KEY: message } = problems({ SITEFLEET_SITE_BACKUP_S3_KEY: 'ID:SECRET' });
    expect(message).toMatch(/^has an invalid value\. Allowed: 3 to 128 letters/);
  });

  it('documents every variable and shows no secret default', () => {
    const rows = describeConfig();
    expect(rows).toHaveLength(Object.keys(readConfig(home)).length);
    for (const row of rows) expect(row.meaning.length).toBeGreaterThan(15);
    expect(rows.find((row) => row.name === 'SITEFLEET_PORT')?.default).toBe('8787');
    expect(rows.find((row) => row.name === 'SITEFLEET_READ_ONLY')?.default).toBe('0');
  });
});

describe('createLog', () => {
  function lines(level: Parameters<typeof createLog>[0], write: (log: ReturnType<typeof createLog>) => void) {
    const written: string[] = [];
    write(createLog(level, { write: (line) => void written.push(line) }));
    return written;
  }

  it('writes one JSON line with a named level and without secrets', () => {
    const [line = ''] = lines('info', (log) =>
      log.warn(
        {
          password: 'p1',
          headers: { authorization: 'p2' },
          site: { login: { http_pass: 'p3' } },
          api_key: 'p4',
          ok: 1,
        },
        'said',
      ),
    );
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', msg: 'said', ok: 1, password: '[redacted]' });
    expect(line).not.toMatch(/p[1-4]/);
  });

  it('keeps to its level, and writes errors with their cause', () => {
    expect(lines('error', (log) => log.warn({}, 'no'))).toEqual([]);
    expect(lines('silent', (log) => log.error({}, 'no'))).toEqual([]);
    const [line = ''] = lines('info', (log) =>
      log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed'),
    );
    expect(JSON.parse(line).err).toMatchObject({
      type: 'Error',
      message: expect.stringContaining('outer'),
      stack: expect.stringContaining('inner'),
    });
  });
});
