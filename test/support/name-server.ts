/** A name server on loopback that knows some names, and is silent about all others. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closing } from './cleanup.js';

export interface NameServer {
  /** With its port, as Node's resolver takes it. */
  address: string;
  /** The names that were asked for, in order. */
  asked: string[];
  close(): Promise<void>;
}

const A = 1;

/** @param known IPv4 addresses by name */
export async function nameServer(known: Readonly<Record<string, string>>): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, end } = questionOf(query);
    asked.push(name);
    const found = known[name];
    if (found === undefined) return;
    const records = query.readUInt16BE(end - 4) === A ? [found] : [];
    socket.send(answerTo(query.subarray(0, end), records), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return closing({
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  });
}

/** The name in a query, and where its question ends (RFC 1035, 4.1.2). */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** The header and question of the query, with the flags and counts of an answer, and a record for each address. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
