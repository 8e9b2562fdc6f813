import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import {
  type CallFacts,
  type ChildSitesOptions,
  createChildSites,
  type PacedChildSites,
} from '../../src/outbound/child/create.js';
import { systemLookup } from '../../src/outbound/child/wire/resolve.js';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { nameServers } from '../../src/outbound/name-lookup.js';
import { closing } from '../support/cleanup.js';
import { ALWAYS } from '../support/dates.js';
import { handClock } from '../support/harness.js';
import { listenLocally } from '../support/local-server.js';
import { nameServer } from '../support/name-server.js';

let key = '';

beforeAll(async () => {
  key = (await generateKey()).private_key;
});

/** Starts a server that records requests with their body; `answer` writes the response. */
interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

async function site(answer: (response: ServerResponse, seen: Seen) => void): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(one);
      answer(response, one);
    });
  };
  const { url } = await listenLocally(createServer(listener));
  return { url: `${url}/`, seen };
}

const frame = (value: unknown): string => `<mainwp>${Buffer.from(JSON.stringify(value)).toString('base64')}</mainwp>`;
const stats = { version: '6.1', wpversion: '7.1.4', plugins: [] };

function children(options: Partial<ChildSitesOptions> = {}): PacedChildSites {
  const made = createChildSites({
    dashboardUrl: 'https://fleet.example/',
    concurrency: 50,
    perHost: 10,
    perHostDelayMs: 0,
    minDelayMs: 0,
    allowPrivate: true,
    callTimeoutMs: 60_000,
    ...options,
  });
  return closing(made);
}

const at = (url: string, more: object = {}) => ({
  url,
  http_user: null,
  http_pass: null,
  ssl_verify: true,
  site_id: 7,
  user: 'admin',
  private_key: key,
  ...more,
});
const request = { abandonedAfterDays: 730, changesAfter: 12.5 };

describe('a call', () => {
  it('posts a signed form to admin-ajax with our headers, no cookies, and reports what it cost', async () => {
    const facts: CallFacts[] = [];
    const { url, seen } = await site((response) => {
      response.setHeader('set-cookie', 'wordpress_logged_in=secret');
      response.end(`<br>Notice: junk ${frame(stats)} more junk`);
    });
    const sites = children({ onCall: (one) => facts.push(one) });
    const connection = at(`${url}blog/`, { http_user: 'web', http_pass: 'pä:ss' });
    expect(await sites.stats(connection, request)).toMatchObject({
      child_version: '6.1',
      plugins: [],
      core_update: null,
    });
    await sites.stats(connection, request);
    const [first, second] = seen;
    expect(first).toMatchObject({ method: 'POST', url: '/blog/wp-admin/admin-ajax.php' });
    expect(first?.headers).toMatchObject({
      'user-agent': 'Mozilla/5.0 (compatible; MainWP/6.1.2; Sitefleet)',
      'x-requested-with': 'XMLHttpRequest',
      'content-type': 'application/x-www-form-urlencoded',
      'accept-encoding': 'gzip',
      authorization: `Basic ${Buffer.from('web:pä:ss').toString('base64')}`,
    });
    expect(second?.headers.cookie).toBeUndefined();
    const form = new URLSearchParams(first?.body);
    expect(Object.fromEntries(form)).toMatchObject({
      user: 'admin',
      function: 'stats',
      mainwpver: '6.1.2',
      sign_algo: '7',
      server: 'https://fleet.example/',
      siteId: '7',
      optimize: '0',
      numberdaysOutdatePluginTheme: '730',
      child_actions_last_created: '12.5',
      'params_logs[newer_than]': '12.5',
    });
    expect(JSON.parse(form.get('syncdata') ?? '')).toMatchObject({ users: 0, dbsize: 0, securityStats: 0 });
    expect(form.get('nonce')).toMatch(/^[0-9a-f]{32}$/);
    expect(new URLSearchParams(second?.body).get('nonce')).not.toBe(form.get('nonce'));
    expect(facts).toHaveLength(2);
    expect(facts[0]).toMatchObject({ site_id: 7, fn: 'stats', outcome: 'ok' });
    expect(facts[0]?.bytes).toBeGreaterThan(50);
  });

  it('reads gzip', async () => {
    const { url } = await site((response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(frame(stats)));
    });
    expect(await children().stats(at(url), request)).toMatchObject({ wp_version: '7.1.4' });
  });

  it('lets the caller choose parts', async () => {
    const { url, seen } = await site((response) => response.end(frame(stats)));
    await children().stats(at(url), {
      ...request,
      renewRegverify: true,
      parts: { securityStats: true, plugins: false },
    });
    const form = new URLSearchParams(seen[0]?.body);
    expect(JSON.parse(form.get('syncdata') ?? '')).toMatchObject({ securityStats: 1, plugins: 0, users: 0 });
    expect(form.get('sync_regverify')).toBe('1');
  });

  it('sends nothing for slugs it cannot name, and says so', async () => {
    const { url, seen } = await site((response) => response.end(frame({ upgrades: { 'a/a.php': true } })));
    const sites = children();
    const answer = await sites.upgradeExtensions(at(url), 'plugin', ['a/a.php', 'b,c/d.php', 'a/a.php'], {});
    expect(answer.verdicts.map((one) => [one.slug, one.claimed])).toEqual([
      ['a/a.php', true],
      ['b,c/d.php', false],
    ]);
    expect(new URLSearchParams(seen[0]?.body).get('list')).toBe('a/a.php');
    expect(await sites.pluginAction(at(url), 'delete', [], {})).toEqual({ verdicts: [], snapshot: null });
    expect(seen).toHaveLength(1);
  });
});

describe('what sites do wrong', () => {
  it('a hanging site times out, and may have run the call', async () => {
    const clock = handClock();
    const { url } = await site(() => clock.move(120));
    const sites = children({ clock });
    const failure = sites.stats(at(url), request, { timeoutMs: 120 });
    await expect(failure).rejects.toMatchObject({ name: 'ChildFailure', kind: 'timed_out', mayHaveRun: true });
    expect(sites.load()).toEqual({ running: 0, queued: 0 });
  });

  it('a dribbling body times out as a whole', async () => {
    const clock = handClock();
    const { url } = await site((response) => {
      const timer = setInterval(() => {
        response.write('x');
        clock.move(20);
      }, 1);
      response.on('close', () => clearInterval(timer));
    });
    const call = children({ clock }).stats(at(url), request, { timeoutMs: 200 });
    await expect(call).rejects.toMatchObject({ kind: 'timed_out', httpStatus: 200 });
    // Nothing is known of a page of which the rest has not come: its status is none of the page.
    const page = children({ clock }).page(at(url), '', { timeoutMs: 200 });
    expect(await page).toMatchObject({ status: 0, body: '', failure: { kind: 'timed_out' } });
  });

  it('silence after the headers ends a read, but no update: WordPress sends them when it begins', async () => {
    let finish = (): void => undefined;
    const { url, seen } = await site((response, { body }) => {
      response.flushHeaders();
      if (body.includes('function=upgrade')) finish = () => response.end(frame({ upgrade: 'SUCCESS' }));
    });
    const sites = children({ bodyTimeoutMs: 150, clock: handClock() });
    const updated = sites.upgradeCore(at(url));
    await expect.poll(() => seen.length).toBe(1);
    // The silence that the update is allowed began before.
    await expect(sites.stats(at(url), request)).rejects.toMatchObject({ kind: 'timed_out' });
    finish();
    expect(await updated).toMatchObject({ claimed: true });
  });

  it('is left to finish when it changes something and its caller gives up; the next call takes another connection', async () => {
    let hungUp = false;
    let finish = (): void => undefined;
    const { url, seen } = await site((response, { body }) => {
      response.on('close', () => {
        hungUp ||= !response.writableFinished;
      });
      if (body.includes('function=upgrade')) finish = () => response.end(frame({ upgrade: 'SUCCESS' }));
      else response.end(frame(stats));
    });
    const sites = children();
    const caller = new AbortController();
    const call = sites.upgradeCore(at(url), { signal: caller.signal });
    await expect.poll(() => seen.length).toBe(1);
    caller.abort();
    await expect(call).rejects.toMatchObject({ kind: 'cancelled', mayHaveRun: true });
    expect(await sites.stats(at(url), request)).toMatchObject({ child_version: '6.1' });
    finish();
    expect(await sites.stats(at(url), request)).toMatchObject({ child_version: '6.1' });
    expect(hungUp).toBe(false);
  });

  it('a change under way holds the end of the service up, for a while', async () => {
    const answers: (() => void)[] = [];
    const { url } = await site((response) => answers.push(() => response.end(frame({ upgrade: 'SUCCESS' }))));
    const clock = handClock();
    const sites = children({ callTimeoutMs: 400, clock });
    const updated = sites.upgradeCore(at(url), { timeoutMs: 60_000 });
    await expect.poll(() => answers.length).toBe(1);
    const closed = sites.close();
    answers[0]?.();
    expect(await updated).toMatchObject({ claimed: true });
    await closed;

    const others = children({ callTimeoutMs: 400, clock });
    const lost = expect(others.upgradeCore(at(url), { timeoutMs: 60_000 })).rejects.toMatchObject({
      kind: 'cancelled',
    });
    await expect.poll(() => answers.length).toBe(2);
    const ended = others.close();
    clock.move(400);
    await ended;
    await lost;
  });

  it('an endless body is cut at the limit', async () => {
    let closed = false;
    const { url } = await site((response) => {
      const chunk = Buffer.alloc(65_536, 'x');
      const pump = (): void => {
        while (!closed && response.write(chunk));
      };
      response.on('drain', pump);
      response.on('close', () => {
        closed = true;
      });
      pump();
    });
    await expect(children({ maxBodyBytes: 1_000_000 }).stats(at(url), request)).rejects.toMatchObject({
      kind: 'too_large',
    });
    await expect.poll(() => closed).toBe(true);
  });

  it('an answer of many small pieces is read whole, and one of too many is cut', async () => {
    const text = Buffer.from(frame({ ...stats, admin_email: 'x'.repeat(100_000) }));
    const inPieces = (more: number) =>
      listenLocally(
        createTcpServer((socket) => {
          socket.once('data', () => {
            const spaces = '1\r\n \r\n'.repeat(more);
            const pieces = [...text.toString('latin1')].map((letter) => `1\r\n${letter}\r\n`).join('');
            socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${spaces}${pieces}0\r\n\r\n`);
          });
        }),
      );
    const fine = await inPieces(200_000 - text.length);
    expect(await children().stats(at(`${fine.url}/`), request)).toMatchObject({ child_version: '6.1' });
    const many = await inPieces(200_001 - text.length);
    await expect(children().stats(at(`${many.url}/`), request)).rejects.toMatchObject({
      kind: 'too_large',
      message: expect.stringContaining('in more than 200000 pieces'),
    });
  });

  it('some interim answers are passed over, and one of nothing else is ended', async () => {
    const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n';
    const text = frame(stats);
    const fine = await listenLocally(
      createTcpServer((socket) => {
        const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
        socket.once('data', () => socket.end(`${EARLY.repeat(20)}${answer}`));
      }),
    );
    expect(await children().stats(at(`${fine.url}/`), request)).toMatchObject({ child_version: '6.1' });
    let closed = false;
    const endless = await listenLocally(
      createTcpServer((socket) => {
        const more = (): void => {
          while (!socket.destroyed && socket.write(EARLY.repeat(1_000)));
        };
        socket.once('data', more).on('drain', more);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            closed = true;
          });
      }),
    );
    await expect(children().stats(at(`${endless.url}/`), request)).rejects.toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('more than 20 interim answers'),
    });
    await expect.poll(() => closed).toBe(true);
  });

  it('an answer of too many members is not parsed, whatever they are called', async () => {
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]));
    const answers = [
      { ...stats, plugin_updates: names(100_000) },
      { ...stats, unknown: names(300_001) },
      { ...stats, plugin_updates: names(300_001) },
      { ...stats, unknown: Array(300_001).fill(0) },
    ];
    let turn = 0;
    const { url } = await site((response) => response.end(frame(answers[turn])));
    expect(await children().stats(at(url), request)).toMatchObject({ child_version: '6.1' });
    for (turn = 1; turn < answers.length; turn++)
      await expect(children().stats(at(url), request)).rejects.toMatchObject({
        kind: 'bad_answer',
        message: expect.stringContaining('has too many parts'),
      });
  });

  it('a gzip bomb is cut at the same limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    const { url } = await site((response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(bomb);
    });
    await expect(children({ maxBodyBytes: 1_000_000 }).stats(at(url), request)).rejects.toMatchObject({
      kind: 'too_large',
    });
  });

  it('of a page that is compressed unasked, as of any other, the first megabyte is read', async () => {
    const READ = 1_048_576;
    const whole = Buffer.from('<p>Apples, pears and plums.</p>\n'.repeat(60_000));
    const noise = randomBytes(2 * READ);
    let sent = gzipSync(whole);
    const { url } = await site((response) => {
      response.setHeader('content-encoding', 'gzip').setHeader('content-type', 'text/html');
      response.end(sent);
    });
    const page = () => children().page(at(url), '', {});
    expect(await page()).toMatchObject({
      status: 200,
      cut: true,
      failure: null,
      body: String(whole.subarray(0, READ)),
    });
    sent = gzipSync(whole.subarray(0, READ));
    expect(await page()).toMatchObject({ status: 200, cut: false, body: String(whole.subarray(0, READ)) });
    // More than a megabyte of it comes on the way, too.
    sent = gzipSync(noise);
    const { body, ...answer } = await page();
    expect(answer).toMatchObject({ status: 200, cut: true, failure: null });
    expect(String(noise).startsWith(body.slice(0, 900_000))).toBe(true);
    // One that breaks off is none.
    sent = gzipSync(whole).subarray(0, 2_000);
    expect(await page()).toMatchObject({ status: 0, failure: { kind: 'bad_answer' } });
  });

  it('a damaged or unknown compression is a bad answer', async () => {
    let encoding = 'gzip';
    const { url } = await site((response) => {
      response.setHeader('content-encoding', encoding);
      response.end('not compressed');
    });
    await expect(children().stats(at(url), request)).rejects.toMatchObject({ kind: 'bad_answer' });
    encoding = 'br';
    await expect(children().stats(at(url), request)).rejects.toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('"br"'),
    });
  });

  it('a redirect is named and never followed', async () => {
    const target = await site((response) => response.end(frame(stats)));
    const { url, seen } = await site((response) => {
      response.writeHead(307, { location: `${target.url}blog/wp-admin/admin-ajax.php` });
      response.end();
    });
    await expect(children().stats(at(url), request)).rejects.toMatchObject({
      kind: 'redirected',
      mayHaveRun: false,
      message: expect.stringContaining(`${target.url}blog/`),
    });
    expect([seen.length, target.seen.length]).toEqual([1, 0]);
  });

  it('a redirect to a metadata address is not followed either', async () => {
    const { url } = await site((response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' });
      response.end();
    });
    await expect(children().stats(at(url), request)).rejects.toMatchObject({ kind: 'redirected' });
  });

  it('a cut connection, a refused one and a wrong protocol are unreachable', async () => {
    const { url } = await site((response) => response.destroy());
    await expect(children().pluginAction(at(url), 'activate', ['a'])).rejects.toMatchObject({
      kind: 'unreachable',
      mayHaveRun: true,
    });
    const raw = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    const { url: rawUrl } = await listenLocally(raw);
    await expect(children().stats(at(`${rawUrl}/`), request)).rejects.toMatchObject({
      kind: 'unreachable',
    });
    raw.close();
    const closed = createServer();
    const { port: free } = await listenLocally(closed);
    closed.close();
    await expect(children().stats(at(`http://127.0.0.1:${free}/`), request)).rejects.toMatchObject({
      kind: 'unreachable',
      mayHaveRun: false,
    });
  });

  it.each([
    [400, '0', 'plugin_missing'],
    [401, 'who?', 'http_auth'],
    [500, '<p>There has been a critical error', 'unframed'],
    [200, '<mainwp></mainwp>', 'bad_answer'],
    [200, frame({ error: 'Nope' }), 'refused'],
    [200, frame({ error: 'Nope', error_code: 'child_plugin_incompatible' }), 'outdated'],
    [200, frame('surprise'), 'bad_answer'],
  ])('HTTP %i with %s is %s', async (status, body, kind) => {
    const { url } = await site((response) => {
      response.statusCode = status;
      response.end(body);
    });
    await expect(children().stats(at(url), request)).rejects.toMatchObject({ name: 'ChildFailure', kind });
  });
});

describe('the second URL', () => {
  const guarded = () =>
    site((response, seen) => {
      if (!seen.url.includes('wp-admin')) return response.end(frame({ ...stats, upgrade: 'SUCCESS' }));
      response.statusCode = 403;
      return response.end('<html>firewall</html>');
    });

  it('is tried once for reads, with the same signed body', async () => {
    const { url, seen } = await guarded();
    expect(await children().stats(at(url), request)).toMatchObject({ child_version: '6.1' });
    expect(seen.map((one) => one.url)).toEqual(['/wp-admin/admin-ajax.php', '/']);
    expect(seen[0]?.body).toBe(seen[1]?.body);
  });

  it('is tried for a change only where a firewall refuses whatever is sent, and for a registration, which may be repeated', async () => {
    const { url, seen } = await guarded();
    expect(await children().upgradeCore(at(url))).toMatchObject({ claimed: true });
    expect(seen.map((one) => one.url)).toEqual(['/wp-admin/admin-ajax.php', '/wp-admin/admin-ajax.php', '/']);
    expect(seen.map((one) => one.body === '')).toEqual([false, true, false]);
    const filtered = await site((response, { body }) => {
      response.statusCode = body === '' ? 400 : 403;
      response.end(body === '' ? '0' : '<html>firewall</html>');
    });
    const refused = { kind: 'unframed', httpStatus: 403, mayHaveRun: true };
    await expect(children().savePost(at(filtered.url), {}, null)).rejects.toMatchObject(refused);
    expect(filtered.seen.map((one) => one.url)).toEqual(Array(2).fill('/wp-admin/admin-ajax.php'));
    for (const [status, body] of [
      [500, '<html>critical error</html>'],
      [502, '<html>bad gateway</html>'],
      [200, '<html>a cached page</html>'],
      [403, '-1'],
      [404, '<html>not found</html>'],
    ] as const) {
      const other = await site((response) => {
        response.statusCode = status;
        response.end(body);
      });
      const sites = children();
      await expect(sites.upgradeCore(at(other.url))).rejects.toMatchObject({ kind: 'unframed', httpStatus: status });
      const registration = { user: 'a', public_key: 'k', unique_id: '' };
      await expect(sites.savePost(at(other.url), {}, null)).rejects.toMatchObject({ kind: 'unframed' });
      expect(other.seen.map((one) => one.url)).toEqual(Array(2).fill('/wp-admin/admin-ajax.php'));
      await expect(sites.register(at(other.url), registration)).rejects.toMatchObject({ kind: 'unframed' });
      expect(other.seen.slice(2).map((one) => one.url)).toEqual(['/wp-admin/admin-ajax.php', '/']);
    }
  });

  it('is asked first where it answered the last sync', async () => {
    const { url, seen } = await guarded();
    const sites = children();
    const { door } = await sites.stats(at(url), request);
    expect(door).toBe('root');
    await sites.upgradeCore({ ...at(url), door });
    expect(seen.map((one) => one.url)).toEqual(['/wp-admin/admin-ajax.php', '/', '/']);
  });

  it('is tried for a read whose connection broke off only after the same one, which keeps its place', async () => {
    let breaks = 1;
    const { url, seen } = await site((response, { url: path }) => {
      if (!path.includes('wp-admin') || breaks-- <= 0) return response.end(frame(stats));
      return response.socket?.destroy();
    });
    const sites = children();
    expect(await sites.stats(at(url), request)).toMatchObject({ door: 'ajax' });
    expect(seen.map((one) => one.url)).toEqual(Array(2).fill('/wp-admin/admin-ajax.php'));
    breaks = 2;
    expect(await sites.stats(at(url), request)).toMatchObject({ door: 'root' });
    expect(seen.slice(2).map((one) => one.url)).toEqual([...Array(2).fill('/wp-admin/admin-ajax.php'), '/']);
  });

  it('is not tried where it cannot help, and the first failure stands', async () => {
    let status = 429;
    const { url, seen } = await site((response) => {
      response.statusCode = status;
      response.end('<html>');
    });
    await expect(children().stats(at(url), request)).rejects.toMatchObject({ httpStatus: 429 });
    expect(seen).toHaveLength(1);
    status = 503;
    await expect(children().stats(at(url), request)).rejects.toMatchObject({ kind: 'unframed', httpStatus: 503 });
    expect(seen).toHaveLength(3);
  });
});

describe('sessions of WordPress', () => {
  const cookie = (token: string) =>
    `wordpress_abc=admin%7C1893456000%7C${token.repeat(43)}%7C${'a'.repeat(64)}; path=/wp-admin; HttpOnly`;

  it('go along with the next signed call of the same site and login, and with nothing else', async () => {
    const sent: (string | undefined)[] = [];
    const { url } = await site((response, { headers }) => {
      sent.push(headers.cookie);
      response.setHeader('set-cookie', [
        cookie('t'),
        cookie('u'),
        cookie('v').replace('wordpress_', 'wordpress_logged_in_'),
        'wp_lang=de; path=/',
      ]);
      response.end(frame(stats));
    });
    const sites = children();
    await sites.stats(at(url), request);
    await sites.stats(at(url), request);
    await sites.stats({ ...at(url), user: 'other' }, request);
    await sites.connectionState(at(url), 'admin');
    await sites.visit(at(url));
    expect(sent).toEqual([undefined, cookie('u').split(';')[0], undefined, undefined, undefined]);
  });
});

describe('addresses', () => {
  it('refuses private ones, by literal and by name, before anything is sent', async () => {
    const { url, seen } = await site((response) => response.end(frame(stats)));
    const { port } = new URL(url);
    const sites = children({
      allowPrivate: false,
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', '[::1]', 'rebind.example', 'localhost.']) {
      const blocked = { kind: 'blocked_address', mayHaveRun: false };
      await expect(sites.stats(at(`http://${host}:${port}/`), request)).rejects.toMatchObject(blocked);
      expect(await sites.visit(at(`http://${host}:${port}/`))).toMatchObject({ http_status: 0, failure: blocked });
    }
    expect(seen).toHaveLength(0);
  });

  it('connects where the checked resolver says, not where the system would', async () => {
    const { url } = await site((response) => response.end(frame(stats)));
    const asked: string[] = [];
    const sites = children({
      lookup: async (host) => {
        asked.push(host);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    expect(await sites.stats(at(`http://shop.example:${new URL(url).port}/`), request)).toMatchObject({
      wp_version: '7.1.4',
    });
    expect(asked).toEqual(['shop.example']);
  });

  it('finds a site although the name servers of many others are silent', async () => {
    const { url } = await site((response) => response.end(frame(stats)));
    const servers = await nameServer({ 'good.example': '127.0.0.1' });
    const ask = nameServers({ timeout: 2_000, tries: 1, servers: [servers.address] });
    // The system's resolver never answers: its threads are taken.
    const lookup = systemLookup(ask, () => new Promise(() => undefined));
    const sites = children({ lookup, concurrency: 50 });
    const control = new AbortController();
    const names = Array.from({ length: 12 }, (_, i) => `site${i}.dead.example`);
    const dead = names.map((name) => sites.visit(at(`http://${name}/`), { signal: control.signal }).catch(() => null));
    await expect.poll(() => new Set(servers.asked).size).toBe(names.length);
    const answer = await sites.stats(at(`http://good.example:${new URL(url).port}/`), request);
    expect(answer).toMatchObject({ wp_version: '7.1.4' });
    control.abort();
    await Promise.all(dead);
  });

  it('says so when a name does not resolve', async () => {
    const sites = children({ lookup: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) });
    await expect(sites.stats(at('https://gone.example/'), request)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('gone.example'),
    });
  });
});

describe('TLS', () => {
  it('refuses a self-signed certificate unless verification is off, and resumes sessions', async () => {
    let resumed = 0;
    const server = createSecureServer(selfSigned(ALWAYS), (request, response) => {
      request.resume();
      response.setHeader('connection', 'close');
      response.end(frame(stats));
    });
    server.on('secureConnection', (socket) => {
      if (socket.isSessionReused()) resumed++;
    });
    const url = `https://127.0.0.1:${(await listenLocally(server)).port}/`;
    const sites = children();
    await expect(sites.stats(at(url), request)).rejects.toMatchObject({ kind: 'tls', mayHaveRun: false });
    for (let i = 0; i < 3; i++) {
      expect(await sites.stats(at(url, { ssl_verify: false }), request)).toMatchObject({ child_version: '6.1' });
    }
    expect(resumed).toBe(2);
    // A session made without verification is not reused for calls that verify.
    await expect(sites.stats(at(url), request)).rejects.toMatchObject({ kind: 'tls' });
    sites.configure({ verify: false });
    expect(await sites.stats(at(url), request)).toMatchObject({ child_version: '6.1' });
  });
});

describe('cancelling', () => {
  it('ends running and queued calls at once', async () => {
    const { url, seen } = await site(() => undefined);
    const sites = children({ perHost: 1 });
    const control = new AbortController();
    const all = [1, 2, 3].map(() =>
      sites.stats(at(url), request, { signal: control.signal }).catch((error: unknown) => error),
    );
    await expect.poll(() => seen.length).toBe(1);
    control.abort();
    expect(await Promise.all(all)).toEqual([
      expect.objectContaining({ kind: 'cancelled', mayHaveRun: true }),
      expect.objectContaining({ kind: 'cancelled', mayHaveRun: false }),
      expect.objectContaining({ kind: 'cancelled', mayHaveRun: false }),
    ]);
    await expect.poll(() => sites.load()).toEqual({ running: 0, queued: 0 });
    await expect(sites.visit(at(url), { signal: control.signal })).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('ends a call that is still connecting, and nothing leaves afterwards', async () => {
    const { url, seen } = await site((response) => response.end(frame(stats)));
    let answer: (() => void) | undefined;
    const sites = children({
      lookup: () =>
        new Promise((resolve) => {
          answer = () => resolve([{ address: '127.0.0.1', family: 4 }]);
        }),
    });
    const control = new AbortController();
    const call = sites.stats(at(`http://slow.example:${new URL(url).port}/`), request, { signal: control.signal });
    control.abort();
    await expect(call).rejects.toMatchObject({ kind: 'cancelled', mayHaveRun: false });
    answer?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(seen).toHaveLength(0);
  });

  it('close ends everything', async () => {
    const { url, seen } = await site(() => undefined);
    const sites = children({ perHost: 2 });
    const calls = [sites.stats(at(url), request), sites.visit(at(url)), sites.stats(at(url), request)];
    const outcomes = Promise.allSettled(calls);
    await expect.poll(() => seen.length).toBe(2);
    await sites.close();
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'cancelled' } });
    await expect(sites.stats(at(url), request)).rejects.toMatchObject({ kind: 'cancelled' });
  });
});

describe('limits', () => {
  it('never has more calls open than allowed, in all and per host', async () => {
    let most = 0;
    let allowed = 3;
    let open: ServerResponse[] = [];
    // Answers once as many are open as may be, and a further one had time to come.
    const { url } = await site(async (response) => {
      most = Math.max(most, open.push(response));
      if (open.length !== allowed) return;
      for (let turns = 0; turns < 20; turns++) await nextTurn();
      const answered = open;
      open = [];
      for (const each of answered) each.end(frame(stats));
    });
    const sites = children({ concurrency: 50, perHost: allowed });
    await Promise.all(Array.from({ length: 30 }, (_, i) => sites.stats(at(`${url}s${i}/`), request)));
    expect(most).toBe(3);
    allowed = 5;
    sites.configure({ perHost: 50, concurrency: allowed });
    await Promise.all(Array.from({ length: 30 }, (_, i) => sites.stats(at(`${url}s${i}/`), request)));
    expect(most).toBe(5);
  });

  it('closes connections soon, whatever keep-alive the server promises', async () => {
    const sockets = new Set<unknown>();
    const asked: ServerResponse[] = [];
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      request.resume();
      response.setHeader('keep-alive', 'timeout=60');
      // Together, so that each call has its own connection.
      if (asked.push(response) === 3) for (const one of asked) one.end(frame(stats));
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    const url = `${(await listenLocally(server)).url}/`;
    const sites = children();
    await Promise.all([1, 2, 3].map(() => sites.stats(at(url), request)));
    expect(sockets.size).toBe(3);
    await expect.poll(() => sockets.size, { interval: 100 }).toBe(0);
  });
});

describe('connections', () => {
  /** Starts a site that counts the connections opened to it. */
  async function counted(answer: RequestListener): Promise<{ url: string; opened: () => number }> {
    let opened = 0;
    const server = createServer((request, response) => {
      request.resume();
      request.on('end', () => answer(request, response));
    });
    server.on('connection', () => opened++);
    return { url: `${(await listenLocally(server)).url}/`, opened: () => opened };
  }

  it('are kept for what a site is asked next, and made for what it is asked meanwhile', async () => {
    const held: ServerResponse[] = [];
    let hold = false;
    const { url, opened } = await counted((_, response) => {
      if (hold) held.push(response);
      else response.end(frame(stats));
    });
    const sites = children();
    for (let i = 0; i < 3; i++) await sites.stats(at(url), request);
    expect(opened()).toBe(1);

    hold = true;
    const waiting = sites.stats(at(url), request);
    await expect.poll(() => held.length).toBe(1);
    hold = false;
    await sites.stats(at(url), request);
    expect(opened()).toBe(2);
    held[0]?.end(frame(stats));
    await waiting;
    await sites.stats(at(url), request);
    expect(opened()).toBe(2);
  });

  it('of sites that wait are opened before the answers are read that made room for them', async () => {
    const order: string[] = [];
    const held: ServerResponse[] = [];
    const names = ['a', 'b', 'c', 'd'];
    const urls = await Promise.all(
      names.map(async (name, index) => {
        const server = createServer((request, response) => {
          request.resume();
          if (index < 2) held.push(response);
          else response.end(frame(stats));
        });
        server.on('connection', () => order.push(`${name} called`));
        return `${(await listenLocally(server)).url}/`;
      }),
    );
    const sites = children({ concurrency: 2, perHost: 2 });
    const all = urls.map((url, index) => sites.stats(at(url), request).then(() => order.push(`${names[index]} read`)));
    await expect.poll(() => held.length).toBe(2);
    for (const response of held) response.end(frame(stats));
    await Promise.all(all);
    expect(order.slice(0, 4).sort()).toEqual(['a called', 'b called', 'c called', 'd called']);
  });

  it('that a call was given up on do not hold up the next', async () => {
    let answering = false;
    const clock = handClock();
    const { url, opened } = await counted((_, response) => {
      if (answering) response.end(frame(stats));
      else clock.move(200);
    });
    const sites = children({ callTimeoutMs: 200, clock });
    await expect(sites.stats(at(url), request)).rejects.toMatchObject({ kind: 'timed_out' });
    answering = true;
    expect(await sites.stats(at(url), request)).toMatchObject({ wp_version: '7.1.4' });
    // undici opens another connection for the abandoned call, and uses it if the next call arrives in time.
    expect(opened()).toBeGreaterThanOrEqual(2);
  });
});

describe('visits', () => {
  it('report status, time, address and the beginning of the page', async () => {
    const { url, seen } = await site((response) => {
      response.statusCode = 503;
      response.end(`Briefly unavailable for scheduled maintenance.${'x'.repeat(200_000)}`);
    });
    const visit = await children().visit(at(url));
    expect(visit).toMatchObject({ http_status: 503, ip: '127.0.0.1', failure: null });
    expect(visit.body).toMatch(/^Briefly unavailable/);
    expect(visit.body.length).toBeLessThanOrEqual(65_536);
    expect(visit.response_time_ms).toBeGreaterThanOrEqual(0);
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/', body: '' });
  });

  it.each([
    ['/de/', 200],
    ['https://elsewhere.example/', 302],
    ['/', 302],
    ['//example.org/', 302],
  ])('follow a redirect to %s only within the site, and not for ever', async (location, status) => {
    const { url, seen } = await site((response, { url: path }) => {
      if (path === '/de/') return response.end('Willkommen');
      response.writeHead(302, { location });
      return response.end();
    });
    expect(await children().visit(at(url))).toMatchObject({ http_status: status, failure: null });
    expect(seen.length).toBe(location === '/de/' ? 2 : location === '/' ? 9 : 1);
  });

  it('do not reject for dead sites', async () => {
    const dead = createServer();
    const { port } = await listenLocally(dead);
    dead.close();
    expect(await children().visit(at(`http://127.0.0.1:${port}/`))).toMatchObject({
      http_status: 0,
      ip: '',
      failure: { kind: 'unreachable' },
    });
    const clock = handClock();
    const { url: hanging } = await site(() => clock.move(100));
    expect(await children({ clock }).visit(at(hanging), { timeoutMs: 100 })).toMatchObject({
      http_status: 0,
      failure: { kind: 'timed_out' },
    });
  });
});
