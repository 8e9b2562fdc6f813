/** A counting proxy between processes and their storage server; passes everything on unchanged. */

import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { serveCommands } from './process.js';
import { count, noTraffic, type WireCounts, type WireReady, type WireSpec } from './storage-wire.js';

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
let wires: WireCounts[] = [];

async function start({ target, wires: number }: WireSpec): Promise<WireReady> {
  wires = Array.from({ length: number }, nothing);
  const ports = await Promise.all(
    wires.map(async (_, at) => {
      const server = createServer((request, response) => {
        pass(target, at, request, response).catch(() => response.destroy());
      });
      // The server behind it never closes an idle connection, either.
      server.keepAliveTimeout = 0;
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      return typeof address === 'object' ? (address?.port ?? 0) : 0;
    }),
  );
  return { ports };
}

async function pass(target: string, at: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [host = '', port = ''] = target.split(':');
  const asked = await read(request);
  const began = performance.now();
  const { method, url, headers } = request;
  const upstream = send({ agent, host, port, method, path: url, headers });
  upstream.end(asked);
  const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
  const answered = await read(answer);
  const wait = performance.now() - began;
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.end(answered);
  const counts = wires[at];
  if (counts === undefined || url?.endsWith('/pipeline') !== true) return;
  counts.requests++;
  counts.bytesUp += asked.length;
  counts.bytesDown += answered.length;
  counts.waits.push(wait);
  if (answer.statusCode === 200) count(counts, asked.toString(), plain(answered, answer.headers['content-encoding']));
  else counts.errors.push(`HTTP ${answer.statusCode}`);
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Decompresses an answer: answers are compressed if the client accepts it. */
function plain(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'gzip') return gunzipSync(body).toString();
  if (encoding === 'br') return brotliDecompressSync(body).toString();
  return (encoding === 'deflate' ? inflateSync(body) : body).toString();
}

function nothing(): WireCounts {
  return { requests: 0, bytesUp: 0, bytesDown: 0, waits: [], errors: [], by: noTraffic() };
}

/** Counts per process, since the last call. */
function counts(): WireCounts[] {
  const counted = wires;
  wires = counted.map(nothing);
  return counted;
}

serveCommands({ start, counts }, async () => agent.destroy());
