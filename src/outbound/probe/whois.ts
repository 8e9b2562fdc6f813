import type { Socket } from 'node:net';
import { dial } from './dial.js';
import { failureOf, StepFailure } from './failure.js';
import type { Names } from './names.js';
import type { DomainAnswer } from './probe.js';
import { Paused, type RegistryPace } from './registry-pace.js';
import { whoisAnswer } from './whois-answer.js';

export interface WhoisParts {
  names: Names;
  pace: RegistryPace;
  /** The server that knows those of the top-level domains, `host:port`. */
  root: string;
  timeoutMs: number;
}

const MAX_BYTES = 64 * 1024;
/** How long a top-level domain's server, or its absence, is cached. */
const FRESH_MS = 7 * 24 * 3_600_000;

/**
 * Lookups by WHOIS (RFC 3912), for registries without RDAP. Only the registry is queried: referrals to registrars are
 * not followed, because the registry's date is the one that counts, and no other server may choose which hosts we
 * connect to.
 */
export class Whois {
  readonly #parts: WhoisParts;
  readonly #servers = new Map<string, { server: string | null; until: number }>();

  constructor(parts: WhoisParts) {
    this.#parts = parts;
  }

  async domain(name: string, signal: AbortSignal): Promise<DomainAnswer> {
    const tld = name.slice(name.lastIndexOf('.') + 1);
    try {
      const server = await this.#serverOf(tld, signal);
      if (server === null) return { outcome: 'unsupported', message: `There is no WHOIS server for .${tld}.` };
      const answer = await this.#ask(server, question(server, name), signal);
      const read = whoisAnswer(answer, name);
      if (read.outcome === 'limited') throw this.#parts.pace.pause(server, null);
      if (read.outcome === 'unreadable')
        return { outcome: 'failed', message: `${hostOf(server)} sent an answer that cannot be read.` };
      if (read.outcome === 'not_found')
        return { outcome: 'not_found', source: 'whois', message: `${hostOf(server)} knows no domain ${name}.` };
      return { outcome: 'found', source: 'whois', facts: read.facts };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof Paused)
        return { outcome: 'rate_limited', message: error.message, retryAfterMs: error.retryAfterMs };
      return { outcome: 'failed', message: failureOf(error, 'The WHOIS server').message };
    }
  }

  async #serverOf(tld: string, signal: AbortSignal): Promise<string | null> {
    const known = this.#servers.get(tld);
    if (known !== undefined && known.until > performance.now()) return known.server;
    const text = await this.#ask(this.#parts.root, tld, signal);
    const server = /^(?:whois|refer):\s*([\w.-]{1,253}(?::\d{1,5})?)\s*$/im.exec(text)?.[1]?.toLowerCase() ?? null;
    // An answer without the record itself says nothing about the top-level domain.
    if (server === null && !/^domain:/im.test(text) && !/no match|not found|0 objects/i.test(text))
      throw new StepFailure('bad_answer', 'The list of WHOIS servers cannot be read.');
    this.#servers.set(tld, { server, until: performance.now() + FRESH_MS });
    return server;
  }

  #ask(server: string, query: string, signal: AbortSignal): Promise<string> {
    return this.#parts.pace.ask(server, signal, () => exchange(this.#parts, server, query, signal));
  }
}

function hostOf(server: string): string {
  return server.replace(/:\d+$/, '');
}

/** A few registries need more than the bare name. */
function question(server: string, name: string): string {
  const host = hostOf(server);
  if (host === 'whois.denic.de') return `-T dn,ace ${name}`;
  if (host === 'whois.jprs.jp') return `${name}/e`;
  if (host === 'whois.verisign-grs.com') return `domain ${name}`;
  return name;
}

/** One query, one answer, one deadline for both: an idle limit alone would let a server drip bytes forever. */
async function exchange(parts: WhoisParts, server: string, query: string, signal: AbortSignal): Promise<string> {
  const host = hostOf(server);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), parts.timeoutMs);
  try {
    const { socket } = await dial(parts.names, {
      host,
      port: Number(/:(\d+)$/.exec(server)?.[1] ?? 43),
      tls: null,
      signal: AbortSignal.any([signal, limit.signal]),
    });
    try {
      return await readAll(socket, query, AbortSignal.any([signal, limit.signal]));
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (limit.signal.aborted)
      throw new StepFailure('timed_out', `${host} did not answer within ${parts.timeoutMs / 1000} s.`);
    const { kind, message } = failureOf(error, host);
    throw error instanceof Paused ? error : new StepFailure(kind, message, error);
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(socket: Socket, query: string, signal: AbortSignal): Promise<string> {
  const stop = () => socket.destroy(new Error('given up'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    socket.write(`${query}\r\n`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) throw new StepFailure('bad_answer', 'The WHOIS server does not stop sending.');
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
