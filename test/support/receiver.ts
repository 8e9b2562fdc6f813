/** A receiver of webhooks on loopback that stores the messages posted to it. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenLocally } from './local-server.js';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read into messages of many shapes
  body: any;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Answers the next messages with these statuses and headers. */
  answer(...answers: (number | { status: number; headers: Record<string, string> })[]): void;
  close(): Promise<void>;
}

export async function receiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: (number | { status: number; headers: Record<string, string> })[] = [];
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      received.push({ path: incoming.url ?? '', headers: incoming.headers, text, body: JSON.parse(text) });
      const next = answers.shift() ?? 200;
      const { status, headers } = typeof next === 'number' ? { status: next, headers: {} } : next;
      outgoing.writeHead(status, headers).end('ok');
    });
  });
  const { url, close } = await listenLocally(server);
  return { url, received, answer: (...next) => void answers.push(...next), close };
}
