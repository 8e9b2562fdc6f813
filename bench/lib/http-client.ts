/** A small HTTP client over raw sockets, cheap enough not to distort the measurement. */

import { connect, type Socket } from 'node:net';

export interface Exchange {
  method: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface Reply {
  status: number;
  headers: string;
  body: Buffer;
}

/** The request as it goes over the wire. */
export function wireOf(host: string, { method, path, headers, body }: Exchange): Buffer {
  const content = body ?? '';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === 'POST' ? `content-length: ${Buffer.byteLength(content)}\r\n` : '';
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}${length}\r\n${content}`);
}

interface Head {
  end: number;
  /** Null for a chunked body. */
  length: number | null;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** One keep-alive connection. Requests may be pipelined; answers arrive in order. */
export class Connection {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('The server closed the connection.')));
  }

  static open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(socket)));
    });
  }

  /** `wire` holds one request. */
  send(wire: Buffer): Promise<Reply> {
    this.#socket.write(wire);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  close(): void {
    this.#waiting.length = 0;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    for (;;) {
      const end = this.#readOne();
      if (end < 0) return;
      this.#received = this.#received.subarray(end);
    }
  }

  /** Settles one response if it has fully arrived; returns the offset of its end, else -1. */
  #readOne(): number {
    const all = this.#received;
    const head = headOf(all);
    if (head === null) return -1;
    const end = head.length === null ? chunkedEnd(all, head.end) : head.end + head.length;
    if (end < 0 || all.length < end) return -1;
    const headers = all.toString('latin1', 0, head.end);
    const content = all.subarray(head.end, end);
    const body = head.length === null ? dechunked(content) : content;
    this.#waiting.shift()?.resolve({ status: Number(headers.slice(9, 12)), headers, body });
    return end;
  }
}

function headOf(received: Buffer): Head | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  if (/^HTTP\/1\.1 (?:204|304)/.test(head)) return { end: end + 4, length: 0 };
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  return { end: end + 4, length: length === undefined ? null : Number(length) };
}

function chunkedEnd(received: Buffer, from: number): number {
  // The CRLF that ends the head may directly precede the last, empty chunk.
  const last = received.indexOf('\r\n0\r\n\r\n', from - 2);
  return last < 0 ? -1 : last + 7;
}

function dechunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** Sends one request on its own connection. Throws unless the answer is 2xx. */
export async function ask(url: string, exchange: Exchange): Promise<Reply> {
  const connection = await Connection.open(url);
  const reply = await connection.send(wireOf(new URL(url).host, exchange));
  connection.close();
  return checked(reply);
}

export function checked(reply: Reply): Reply {
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw new Error(`HTTP ${reply.status}: ${reply.body.toString('utf8').slice(0, 300)}`);
}
