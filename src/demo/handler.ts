import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { crashPage, page } from './answer.js';
import { answerControl, CONTROL_PATH } from './control.js';
import type { Counters } from './counters.js';
import { deliver } from './deliver.js';
import { latencyOf } from './faults.js';
import { UPDATES } from './functions/index.js';
import type { Answer } from './http-answer.js';
import type { Place } from './listeners.js';
import type { CompleteOptions } from './options.js';
import { type Params, parseForm, text } from './params.js';
import { blocked, respond } from './respond.js';
import type { DemoSite } from './site.js';

/** PHP's usual post_max_size. */
const MAX_BODY = 8 * 1024 * 1024;
const NOTHING: Params = Object.freeze(Object.create(null));

/** From the HTTP request to the site it is meant for, and back. */
export class FleetHandler {
  readonly listener: RequestListener = (request, response) => this.receive(request, response);

  private readonly byPlace = new Map<string, DemoSite>();
  private readonly timers = new Set<NodeJS.Timeout>();
  /** Connections that have brought a request. */
  private readonly used = new WeakSet<Socket>();

  constructor(
    private readonly sites: readonly DemoSite[],
    private readonly counters: Counters,
    private readonly options: CompleteOptions,
  ) {}

  /** Says which site lives at a listener of its own. */
  place(place: Place, site: DemoSite): void {
    if (this.options.mode !== 'path') this.byPlace.set(keyOf(place.host, place.port), site);
  }

  /** Nothing that still waits is answered any more. */
  close(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    if (this.options.control && url === CONTROL_PATH) {
      readBody(request, response, (body) => {
        deliver(response, answerControl(request.method ?? 'GET', body, this.sites, this.counters), {}, false);
      });
      return;
    }
    const target = this.find(request, url);
    if (target === undefined) {
      deliver(response, page(404, '<h1>404 Not Found</h1>'), {}, request.method === 'HEAD');
      return;
    }
    const { site, rest } = target;
    response.once('close', this.counters.begin(site, request.method ?? 'GET'));
    if (site.faults.offline || (site.faults.closesKept && this.used.has(request.socket))) {
      request.socket.destroy();
      return;
    }
    this.used.add(request.socket);
    readBody(request, response, (body) => this.serve(site, request, response, rest, body));
  }

  private find(request: IncomingMessage, url: string): { site: DemoSite; rest: string } | undefined {
    if (this.options.mode !== 'path') {
      const { localAddress, localPort } = request.socket;
      const site = this.byPlace.get(keyOf(localAddress ?? '', localPort ?? 0));
      return site === undefined ? undefined : { site, rest: url };
    }
    const found = /^\/site-(\d{4,5})(\/.*|\?.*)?$/.exec(url);
    const site = found === null ? undefined : this.sites[Number(found[1])];
    return site === undefined ? undefined : { site, rest: found?.[2] ?? '' };
  }

  private serve(site: DemoSite, request: IncomingMessage, response: ServerResponse, rest: string, body: string): void {
    const method = request.method ?? 'GET';
    const form = method === 'POST' && (request.headers['content-type'] ?? '').startsWith('application/x-www-form');
    const params = form ? parseForm(body) : NOTHING;
    const name = text(params, 'function');
    if (name !== '') {
      this.counters.call(name);
      site.record(name, params);
    }
    if (site.faults.hang) return;
    if (name !== '' && site.faults.firewallAnswer === 'cut' && blocked(site, rest.slice(1))) {
      request.socket.destroy();
      return;
    }
    const question = rest.indexOf('?');
    const path = question < 0 ? rest : rest.slice(0, question);
    const answer = (): Answer => {
      if (path === '') return page(301, '', { location: site.url });
      return respond(site, {
        method,
        path: path.slice(1),
        query: question < 0 ? NOTHING : parseForm(rest.slice(question + 1)),
        params,
        authorization: request.headers.authorization ?? '',
        cookie: request.headers.cookie,
        guard:
          method === 'POST' && request.headers['x-sitefleet-guard'] !== undefined
            ? { headers: request.headers, body }
            : null,
        look: request.headers['x-sitefleet-look'] ?? '',
        session: request.headers['x-sitefleet-session'] ?? '',
        address: rest.slice(1),
        userAgent: request.headers['user-agent'] ?? '',
        encodings: String(request.headers['accept-encoding'] ?? ''),
        tls: this.options.tls !== undefined,
        verify: this.options.verify,
      });
    };
    const send = () => deliver(response, this.guarded(answer), site.faults, method === 'HEAD');
    const wait = latencyOf(site.faults, site.random, name, site.index);
    if (wait === 0) send();
    else if (site.faults.flushesUpdates && UPDATES.has(name)) this.whileFlushing(site, response, wait, send);
    else this.later(wait, send);
  }

  /** An unexpected input ends one request, as in PHP, and not the whole fleet; the counters tell tests about it. */
  private guarded(answer: () => Answer): Answer {
    try {
      return answer();
    } catch (error) {
      this.counters.failed(error);
      return crashPage();
    }
  }

  /** PHP that has sent something notices at the next piece that its client has gone, and dies there. */
  private whileFlushing(
    site: DemoSite,
    response: ServerResponse,
    wait: number | Promise<void>,
    send: () => void,
  ): void {
    response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8' });
    response.write(' ');
    this.later(wait, () => {
      if (response.destroyed) site.faults.maintenance = true;
      else send();
    });
  }

  /** PHP that has sent nothing goes on when its client has gone, so the work is done even if nobody waits for the answer any more. */
  private later(wait: number | Promise<void>, work: () => void): void {
    if (typeof wait !== 'number') {
      void wait.then(work);
      return;
    }
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      work();
    }, wait);
    this.timers.add(timer);
  }
}

/** An IPv4 socket on a dual-stack listener shows its address as ::ffff:127.0.0.1. */
function keyOf(host: string, port: number): string {
  const address = host === 'localhost' ? '127.0.0.1' : host.replace(/^::ffff:/, '');
  return `${address === '::1' ? '127.0.0.1' : address}:${port}`;
}

function readBody(request: IncomingMessage, response: ServerResponse, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  });
  request.on('end', () => {
    if (size > MAX_BODY) deliver(response, page(413, '<h1>413 Request Entity Too Large</h1>'), {}, false);
    else done(chunks.length === 1 ? (chunks[0]?.toString('utf8') ?? '') : Buffer.concat(chunks).toString('utf8'));
  });
}
