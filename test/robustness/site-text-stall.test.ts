/**
 * One sign repeated a million times never blocks the event loop: in what a caller sends over MCP, in a page that is
 * compared after an update, and in what a monitor reads.
 */

import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { putFile } from '../../src/demo/guard/backup.js';
import { largestFolders } from '../../src/domain/backups/backups.js';
import { changesBetween } from '../../src/domain/backups/changes.js';
import { siteConstants } from '../../src/domain/backups/site-constants.js';
import type { Snapshot } from '../../src/domain/backups/snapshot.js';
import { dumpTable } from '../../src/domain/backups/sql-dump.js';
import { isDumpable } from '../../src/domain/backups/table-definition.js';
import { compareLedgers } from '../../src/domain/updates/safe/compare-ledgers.js';
import { factsOf } from '../../src/domain/updates/safe/page-facts.js';
import { outcomeOf } from '../../src/outbound/audit/result.js';
import { pageOf } from '../../src/outbound/objects/s3-xml.js';
import { whoisAnswer } from '../../src/outbound/probe/whois-answer.js';
import type { Repository } from '../../src/store/backups/repository/types.js';
import { restApp } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';
import { listenLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';
import { connect, mcpApp, textOf } from '../support/mcp-clients.js';
import { harmlessMegabytes } from './stall.js';

/** In times for a harmless megabyte. Each of these texts took hundreds to thousands of them. */
const LIMIT = 20;

describe('a request over MCP with a login that may only read', () => {
  const endless = (sign: string) => sign.repeat(1_000_000 / sign.length);
  it.each([endless('<'), endless('< '), `[${endless(' ')}`, `<${endless(' ')}`])('of one sign, %#', async (evil) => {
    const mcp = await mcpApp({ sites: 1, connected: 1 });
    const { token } = await newKey(mcp.app.service.store.keys, { scope: 'read' });
    const driver = await connect(['2026-07-28', 'http'], { ...mcp.target, authorization: `Bearer ${token}` });
    const calls = {
      prompt: () => driver.prompt('maintenance-check', { tag: `a${evil}` }),
      'list of sites': async () =>
        textOf(await driver.call('svc-list-updates-v1', { site_ids_or_domains: [`a${evil}`] })),
    };
    for (const [what, call] of Object.entries(calls)) {
      let answer = '';
      const times = await harmlessMegabytes(LIMIT, async () => {
        answer = await call();
      });
      expect(answer).not.toBe('');
      expect([what, times, times <= LIMIT]).toEqual([what, times, true]);
    }
  });
});

it('a monitor reads two megabytes that could be a maintenance page', async () => {
  const app = await restApp({ sites: 1 });
  const site = await app.connect(0);
  const server = createServer((_request, response) =>
    response.writeHead(503, { 'retry-after': '600', 'content-type': 'text/html' }).end('<body '.repeat(350_000)),
  );
  const { url } = await listenLocally(server);
  await app.db.run('UPDATE site SET url = ?, url_key = ? WHERE id = ?', [`${url}/`, url.slice('http://'.length), site]);
  const keyword = { type: 'keyword', keyword: 'shop' };
  expect((await app.rest(`PATCH /monitors/${site}/settings`, { body: keyword })).body.success).toBe(1);
  let answer: unknown;
  const times = await harmlessMegabytes(LIMIT, async () => {
    answer = (await app.rest(`POST /monitors/${site}/check`)).body.data;
  });
  expect(answer).toMatchObject({ http_code: 503 });
  expect([times, times <= LIMIT]).toEqual([times, true]);
});

it.each([
  ...[
    '<title',
    '<script ',
    '<',
    '<link a ',
    '<template>',
    '<script></script',
    '<!--',
    '<!',
    '<div ',
    '<meta name=robots ',
  ],
  ...[
    '<b>Warning</b>: ',
    '<br />\n<b>Notice</b>:  x in <b>',
    'PHP Warning:  a in b on line 3\n',
    'Warning: a in ',
    '&lt;b&gt;Warning&lt;/b&gt;:',
  ],
  ...['<head>', '<a href="//', '<a rel= ', '<div id=a>', '<meta name="robots" content="', '<li id="comment-7">'],
  ...['<form><input name="a">', '<button>a<b>', '</form>a ', '<article><header>'],
])('a page of a megabyte of %s is described', async (part) => {
  const body = part.repeat(1_000_000 / part.length);
  const page = {
    status: 200,
    content_type: 'text/html',
    location: '',
    body,
    cut: false,
    ms: 1,
    sets_cookies: false,
    failure: null,
  };
  const times = await harmlessMegabytes(LIMIT, async () =>
    expect(factsOf(page, 'https://example.com/')).toMatchObject({ title: '', assets: [] }),
  );
  expect([part, times, times <= LIMIT]).toEqual([part, times, true]);
});

it.each([' ', '\n', '\uFEFF', '\u2028', 'disallow', 'disallow: /*', 'user-agent: *\ndisallow: /*\nallow:\n'])(
  'a robots.txt of a megabyte of %j is described',
  async (part) => {
    const body = part.repeat(1_000_000 / Buffer.byteLength(part));
    const described = { status: 200, content_type: 'text/plain', location: '', cut: false, ms: 1, sets_cookies: false };
    const times = await harmlessMegabytes(LIMIT, async () => {
      factsOf({ ...described, failure: null, body }, 'https://example.com/');
    });
    expect([part, times, times <= LIMIT]).toEqual([part, times, true]);
  },
);

it.each(['[', '[a]('])('a result of Lighthouse with a megabyte of %s is read', async (part) => {
  const title = part.repeat(5_000 / part.length);
  const ids = Array.from({ length: 200 }, (_, i) => `audit-${i}`);
  const result = {
    audits: Object.fromEntries(ids.map((id) => [id, { score: 0, title }])),
    categories: { performance: { score: 0.5, auditRefs: ids.map((id) => ({ id })) } },
  };
  const times = await harmlessMegabytes(LIMIT, async () =>
    expect(outcomeOf(result, 'lighthouse').others_data).toHaveLength(100),
  );
  expect([part, times, times <= LIMIT]).toEqual([part, times, true]);
});

it.each(['<Contents>', '<Contents></Contents', '<Contents><Key>', '<Key>', '<', '&amp;'])(
  'a list of a storage server with a megabyte of %s is refused',
  async (part) => {
    const many = part.repeat(1_000_000 / part.length);
    const page = Buffer.from(`<ListBucketResult>${many}</ListBucketResult>`);
    const times = await harmlessMegabytes(LIMIT, async () => expect(pageOf(page, 1_000)).toBeNull());
    expect([part, times, times <= LIMIT]).toEqual([part, times, true]);
  },
);

it('a megabyte of tables and plugins that are gone after an update is compared for each of many items', async () => {
  // One sign becomes eighteen when it is cleaned.
  const tables = Array.from({ length: 2_000 }, (_, i) => ({ name: `${i}${'\uFDFA'.repeat(160)}`, rows: 9 }));
  const active = Array.from({ length: 5_000 }, (_, i) => `${'a'.repeat(180)}${i}`);
  const none = { prefix: 'wp_', tables: [], options: 1, vital: [], active: [], files: [], events: [], held: [] };
  const now = { ...none, wordpress: '6.1', administrators: [], roles: [], powers: null, mails: 0 };
  const other = active.map((slug) => `${slug}b`);
  const times = await harmlessMegabytes(LIMIT, async () => {
    for (let item = 0; item < 30; item++)
      expect(
        compareLedgers({ ...now, tables, active }, { ...now, active: other }, { slugs: [], core: false }),
      ).not.toEqual([]);
  });
  expect([times, times <= LIMIT]).toEqual([times, true]);
});

it('a pattern of many stars is compared with a name of one sign', async () => {
  const app = await restApp({ sites: 1, config: { site_backup_dir: tempFolder('stall') } });
  const site = await app.connect(0);
  await app.call('install-site-guard', { site_id_or_domain: site });
  await app.call('back-up-site', { site_id_or_domain: site });
  const found = app.fleet.sites[0]?.guard?.backup;
  if (found == null) throw new Error('the site has no plugin for backups');
  const name = `wp-content/uploads/${'a'.repeat(32)}`;
  putFile(found, name, Buffer.from('here'), 1_700_000_000);
  app.clock.move(3_600_000);
  const [{ backup_id }] = (await app.call('back-up-site', { site_id_or_domain: site })).backups;
  putFile(found, name, Buffer.from('there'), 1_700_000_001);
  const planned = (pattern: string) =>
    app.call('restore-backup', { backup_id, what: 'files', name: `wp-content/uploads/${pattern}`, dry_run: true });
  const times = await harmlessMegabytes(LIMIT, async () => {
    // One of the two is not of the backup at all.
    expect(await planned(`${'**a'.repeat(12)}*`)).toMatchObject({ files_replaced: 1 });
    expect(
      await app.fail('restore-backup', { backup_id, what: 'files', name: `${'**a'.repeat(12)}!`, dry_run: true }),
    ).toMatchObject({ code: 'svc_invalid_input' });
  });
  expect([times, times <= LIMIT]).toEqual([times, true]);
});

it('the definition of a table of quotes that none ends is refused', async () => {
  const quotes = "\\'".repeat(128 * 1024);
  for (const create of [`CREATE TABLE \`t\` ('${quotes}`, `CREATE TABLE \`t\` ('${quotes}x \``]) {
    const times = await harmlessMegabytes(LIMIT, async () => expect(isDumpable({ name: 't', create })).toBe(false));
    expect([times, times <= LIMIT]).toEqual([times, true]);
  }
});

it('a line of quotes within a literal of a table is no column that holds up its dump', async () => {
  const create = `CREATE TABLE \`t\` (\n  \`a\` int COMMENT '\n  \`b\` int ${"\\'".repeat(128 * 1024)}\n'\n)`;
  const table = { name: 't', engine: 'InnoDB', create, consistency: 'instant' as const, slices: [] };
  expect(isDumpable(table)).toBe(true);
  async function* none(): AsyncGenerator<Buffer> {}
  const times = await harmlessMegabytes(LIMIT, async () => {
    for await (const part of dumpTable(table, none())) expect(part.length).toBeGreaterThan(0);
  });
  expect([times, times <= LIMIT]).toEqual([times, true]);
});

it.each([
  '\n',
  ' ',
  '\t\n',
  'define',
  'define(\n',
  "define('A'\n",
  "define('A','\n",
  'define("A","',
  "define('A','\\'",
])('a configuration of a site of nothing but %j is read for its constants', async (part) => {
  const config = `\n${part.repeat((256 * 1024) / part.length)}`;
  const times = await harmlessMegabytes(LIMIT, async () => expect(siteConstants(config)).toEqual({}));
  expect([times, times <= LIMIT]).toEqual([times, true]);
});

it('of twenty thousand folders of a backup, whose names are slow to clean, the largest are named', async () => {
  // Lists of a thousand files, each in a folder of its own.
  const rowsOf = (list: number) =>
    Array.from({ length: 1_000 }, (_, i) => {
      const path = `wp-content/uploads/${list}-${i}-${'\uFDFA'.repeat(300)}/empty`;
      return [path, path.startsWith('wp-content/uploads/7-') ? 1_000 - i : 0, 1, 1, 1, 0o644, `${list}`, []];
    });
  const read = async (chunk: string) => {
    await setImmediate();
    return Buffer.from(JSON.stringify(chunk === 'tables' ? [] : rowsOf(Number(chunk))));
  };
  const repository = { read } as unknown as Repository;
  const files = Array.from({ length: 20 }, (_, list) => String(list));
  const snapshot = (of: string[]) => ({ id: 'x', started_at: 0, files: of, tables: ['tables'] }) as unknown as Snapshot;
  const times = await harmlessMegabytes(LIMIT, async () => {
    const largest = await largestFolders(repository, { files });
    expect(largest.map(({ bytes }) => bytes)).toEqual(Array.from({ length: 100 }, (_, i) => 1_000 - i));
    expect(largest[0]?.path).toContain('uploads/7-0-');
    const changes = await changesBetween(repository, snapshot([]), snapshot(files));
    expect(changes).toMatchObject({ files_added: 20_000, folders: { length: 50 } });
  });
  expect([times, times <= LIMIT]).toEqual([times, true]);
});

it('an answer of a registry of nothing but line breaks is read', async () => {
  const text = `x${'\n'.repeat(64 * 1024 - 1)}`;
  const times = await harmlessMegabytes(LIMIT, async () =>
    expect(whoisAnswer(text, 'example.com')).toEqual({ outcome: 'unreadable' }),
  );
  expect([times, times <= LIMIT]).toEqual([times, true]);
});
