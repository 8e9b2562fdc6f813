/**
 * Reads of the page: those that are made at once travel in one request, and each is answered as soon as its answer arrives.
 * The first may have been requested with the document.
 */

import { rememberReads, sendReads } from './first-reads.js';

interface Waiting {
  request: Request;
  resolve(response: Response): void;
  reject(reason: unknown): void;
}

/** Maximum number that the server takes at once. */
const MOST = 20;
let waiting: Waiting[] = [];

/** As `fetch`, of a GET below `/v2`. */
export function read(request: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (waiting.length === 0) setTimeout(sendAll);
    waiting.push({ request, resolve, reject });
  });
}

function sendAll(): void {
  let all = waiting.filter(({ request: { signal }, reject }) => {
    if (signal.aborted) reject(signal.reason);
    return !signal.aborted;
  });
  waiting = [];
  if (first) all = takeAsked(all);
  for (let at = 0; at < all.length; at += MOST) void sendTogether(all.slice(at, at + MOST));
}

let first = true;

/** Answers those that were requested with the document; returns the others. */
function takeAsked(reads: Waiting[]): Waiting[] {
  first = false;
  rememberReads([...new Set(reads.map(pathOf))].slice(0, MOST));
  const { askedReads: asked } = window;
  window.askedReads = undefined;
  if (asked === undefined) return reads;
  const open = new Map<number, Waiting>();
  const others = reads.filter((one) => {
    const index = asked.paths.indexOf(pathOf(one));
    if (index < 0 || open.has(index)) return true;
    open.set(index, one);
    return false;
  });
  if (open.size > 0) void answerAll(asked.response, open);
  return others;
}

const pathOf = ({ request }: Waiting) => request.url.slice(location.origin.length);

async function sendTogether(reads: Waiting[]): Promise<void> {
  const open = new Map(reads.entries());
  const [only, ...others] = reads;
  if (only === undefined || others.length > 0) return answerAll(sendReads(reads.map(pathOf), allGone(open)), open);
  try {
    only.resolve(await fetch(only.request));
  } catch (error) {
    only.reject(error);
  }
}

async function answerAll(sent: Promise<Response>, open: Map<number, Waiting>): Promise<void> {
  try {
    const response = await sent;
    if (!response.ok || response.body === null) for (const { resolve } of open.values()) resolve(response.clone());
    else await answerEach(response.body, open);
  } catch (error) {
    for (const { reject } of open.values()) reject(error);
  }
}

/** Aborted once all of the reads are. An aborted one is answered at once. */
function allGone(open: Map<number, Waiting>): AbortSignal {
  const gone = new AbortController();
  for (const [index, { request, reject }] of open)
    request.signal.addEventListener('abort', () => {
      reject(request.signal.reason);
      open.delete(index);
      if (open.size === 0) gone.abort();
    });
  return gone.signal;
}

/** Throws if the answers end early. */
async function answerEach(body: ReadableStream<Uint8Array>, open: Map<number, Waiting>): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  while (open.size > 0) {
    const { value, done } = await reader.read();
    if (done) throw new TypeError('The answers ended early.');
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    const ended = lines.length - 1;
    rest = lines.splice(ended - (ended % 2)).join('\n');
    for (let at = 0; at < lines.length; at += 2) {
      const { index, status } = JSON.parse(lines[at] ?? '') as { index: number; status: number };
      const headers = { 'content-type': 'application/json' };
      open.get(index)?.resolve(new Response(lines[at + 1] ?? '', { status, headers }));
      open.delete(index);
    }
  }
}
