/**
 * Callers of a server in another process: over every HTTP interface, one call after the other, until the time is over.
 */

import type { Served } from '../support/processes/commands.js';

export type Surface = 'mcp' | 'mcp-2026' | 'rest' | 'run';
/** The cost class of a call: a read, a change of our own data, a call that waits for a child site. */
/** Calls that all callers together make at least. */
const MIN_CALLS = 1_200;

export type Kind = 'read' | 'write' | 'site';

export interface Tally {
  /** Milliseconds to the first answer over a new connection, all of them opened at once. */
  opening: number[];
  /** The same for one newcomer a second, during the load. */
  newcomers: number[];
  ok: number;
  /** 429 and 503 with Retry-After. */
  later: number;
  /** How many calls were answered while one was waiting, the largest number. */
  overtaken: number;
  /** Milliseconds by surface and kind. */
  times: Map<`${Surface} ${Kind}`, number[]>;
  /** Anything that is neither an answer nor "later". */
  wrong: string[];
  /** The name each tag must have at the end. */
  tags: Map<number, string>;
}

export const newTally = (): Tally => ({
  opening: [],
  newcomers: [],
  ok: 0,
  later: 0,
  overtaken: 0,
  times: new Map(),
  wrong: [],
  tags: new Map(),
});

const MODERN = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'load', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
/** A server that asks for a longer wait than this fails the test. */
const MAX_WAIT_MS = 5_000;

interface Reply {
  status: number;
  text: string;
  headers: Headers;
}

/** Runs an operation over one surface. */
type Run = (name: string, input: object) => Promise<Reply>;

/** The two credentials: the run endpoint takes logins, the others take keys. */
const bearer = ({ api_key }: Served) => `Bearer ${api_key}`;
const login = ({ user, password }: Served) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

async function send(
  url: string,
  authorization: string,
  body?: unknown,
  { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const reply = await fetch(url, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

const accept = 'application/json, text/event-stream';

async function legacySession(served: Served): Promise<Run> {
  const post = (message: object, headers: Record<string, string> = {}) =>
    send(served.mcp, bearer(served), { jsonrpc: '2.0', ...message }, { headers: { accept, ...headers } });
  const clientInfo = { name: 'load', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post({ id: 0, method: 'initialize', params });
  const session = opened.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${opened.status} ${opened.text}`);
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  await post({ method: 'notifications/initialized' }, headers);
  let id = 0;
  return (name, input) =>
    post({ id: ++id, method: 'tools/call', params: { name: `svc-${name}-v1`, arguments: input } }, headers);
}

function modernClient(served: Served): Run {
  let id = 0;
  return (name, input) => {
    const tool = `svc-${name}-v1`;
    const headers = { accept, 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': tool };
    const params = { name: tool, arguments: input, _meta: META };
    return send(served.mcp, bearer(served), { jsonrpc: '2.0', id: ++id, method: 'tools/call', params }, { headers });
  };
}

/** The run endpoint: reads are GET requests, everything else is POST. */
export function runClient(served: Served): Run {
  return (name, input) => {
    const url = `${served.abilities}/svc/${name}-v1/run`;
    if (!/^(list|get|count)-/.test(name)) return send(url, login(served), { input });
    const query = Object.entries(input).map(([key, value]) => `input[${key}]=${encodeURIComponent(String(value))}`);
    return send(`${url}?${query.join('&')}`, login(served), undefined, { method: 'GET' });
  };
}

/** REST has its own paths; each row here stands for the operation of that name. */
const REST: Readonly<
  Record<string, (input: Record<string, unknown>) => [path: string, method?: string, body?: object]>
> = {
  'list-sites': () => ['/sites?per_page=20'],
  'list-updates': () => ['/updates'],
  'get-site': ({ site_id_or_domain }) => [`/sites/${site_id_or_domain}`],
  'list-tags': () => ['/tags?per_page=20'],
  'get-sites-basic': () => ['/sites/basic'],
  'list-clients': () => ['/clients'],
  'add-tag': (input) => ['/tags/add', 'POST', input],
  'update-tag': ({ tag_id, ...change }) => [`/tags/${tag_id}/edit`, 'PUT', change],
  'update-client': ({ client_id_or_email, note }) => [`/clients/${client_id_or_email}/edit`, 'PUT', { note }],
  'update-site': ({ site_id_or_domain, name }) => [`/sites/${site_id_or_domain}/edit`, 'PUT', { name }],
  'sync-sites': ({ site_ids_or_domains }) => [`/sites/${[site_ids_or_domains].flat()[0]}/sync`, 'POST', {}],
};

function restClient(served: Served): Run {
  return (name, input) => {
    const [path, method = 'GET', body] = REST[name]?.(input as Record<string, unknown>) ?? ['/none'];
    return send(`${served.v2}${path}`, bearer(served), body, { method });
  };
}

const READS = ['list-sites', 'list-updates', 'get-site', 'list-tags', 'get-sites-basic', 'list-clients'];
/** One in this many calls changes something, and one in `SITE_EVERY` of those calls a site. */
const WRITE_EVERY = 8;
const SITE_EVERY = 5;

export interface CallerParts {
  served: Served;
  /** From 0; distinguishes callers. */
  n: number;
  surface: Surface;
  /** Ids of the sites and of the clients. */
  sites: readonly number[];
  clients: readonly number[];
  tally: Tally;
}

/** Opens a connection and gets a first answer over it. */
export async function open({ served, surface, tally }: CallerParts): Promise<Run> {
  const began = performance.now();
  const run =
    surface === 'mcp'
      ? await legacySession(served)
      : { 'mcp-2026': modernClient, rest: restClient, run: runClient }[surface](served);
  const { status, text } = await run('list-sites', {});
  if (status !== 200) tally.wrong.push(`${surface} opening ${status} ${text.slice(0, 300)}`);
  tally.opening.push(performance.now() - began);
  return run;
}

/** A newcomer every second: a new connection for one request. */
export async function newcomers({ url }: Served, until: number, tally: Tally): Promise<void> {
  while (Date.now() < until) {
    const began = performance.now();
    const { status } = await fetch(`${url}/healthz`, { headers: { connection: 'close' } });
    if (status !== 200) tally.wrong.push(`newcomer ${status}`);
    tally.newcomers.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** One caller, from its first answer to the end of the load. */
export async function call(run: Run, parts: CallerParts, until: number): Promise<void> {
  const { n, surface, sites, clients, tally } = parts;
  const site = (i: number) => sites[(n + i) % sites.length] ?? 1;
  let tag: number | undefined;
  let writes = 0;

  const next = (i: number): { kind: Kind; name: string; input: Record<string, unknown> } => {
    if (i % WRITE_EVERY !== n % WRITE_EVERY) {
      const name = READS[(i + n) % READS.length] ?? 'list-sites';
      return { kind: 'read', name, input: name === 'get-site' ? { site_id_or_domain: site(i) } : {} };
    }
    const turn = writes++;
    if (turn === 0) return { kind: 'write', name: 'add-tag', input: { name: `tag ${n}` } };
    if (turn % SITE_EVERY === 0) return { kind: 'site', name: 'sync-sites', input: { site_ids_or_domains: [site(i)] } };
    if (turn % 3 === 0)
      return { kind: 'write', name: 'update-site', input: { site_id_or_domain: site(i), name: `Site ${n}.${i}` } };
    if (turn % 3 === 1)
      return {
        kind: 'write',
        name: 'update-client',
        input: { client_id_or_email: clients[n % clients.length], note: `note ${n}.${i}` },
      };
    return { kind: 'write', name: 'update-tag', input: { tag_id: tag, name: `tag ${n}.${i}` } };
  };

  // A busy machine may take the whole time for the first calls: each caller goes on until some of each kind were made.
  for (let i = n; (Date.now() < until || tally.ok < MIN_CALLS) && tally.wrong.length < 5; i++) {
    const { kind, name, input } = next(i);
    for (;;) {
      const [began, answered] = [performance.now(), tally.ok];
      const reply = await run(name, input);
      const took = performance.now() - began;
      tally.overtaken = Math.max(tally.overtaken, tally.ok - answered);
      const times = tally.times.get(`${surface} ${kind}`) ?? [];
      times.push(took);
      tally.times.set(`${surface} ${kind}`, times);
      const retry = reply.headers.get('retry-after');
      if (isLater(reply) && retry !== null) {
        tally.later++;
        await new Promise((resolve) => setTimeout(resolve, Math.min(Number(retry) * 1000, MAX_WAIT_MS)));
        if (Date.now() < until) continue;
        return;
      }
      const failed = reply.status !== 200 || reply.text.includes('"isError":true') || reply.text.includes('"error":{');
      if (failed) tally.wrong.push(`${surface} ${name} ${reply.status} ${reply.text.slice(0, 300)}`);
      else tally.ok++;
      if (failed || kind !== 'write') break;
      if (name === 'add-tag') tag = idIn(reply.text);
      if (name.endsWith('-tag') && tag !== undefined) tally.tags.set(tag, String(input.name));
      break;
    }
  }
}

/** The sites of the test all answer: a failure of a site is an error, not a reason to come back later. */
function isLater({ status, text }: Reply): boolean {
  return status === 429 || (status === 503 && !/svc_(site|connection|sync)_/.test(text));
}

/** The id of the created object, wherever the surface returns it. */
function idIn(text: string): number {
  const body = JSON.parse(text.replace(/^event:.*\ndata: /, '')) as Record<string, unknown>;
  const inner = (body.result as { structuredContent?: unknown } | undefined)?.structuredContent ?? body.data ?? body;
  const { id, tag_id } = inner as { id?: number; tag_id?: number };
  return Number(id ?? tag_id);
}
