/** Servers for one test, closed by `closeServers`. All on loopback. */

import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

const open = new Set<{ server: Server; sockets: Set<Socket> }>();

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.add({ server, sockets });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export const httpServer = (listener: RequestListener): Promise<number> => listen(createHttpServer(listener));

export const tcpServer = (talk: (socket: Socket) => void): Promise<number> => listen(createServer(talk));

export function tlsServer(options: TlsOptions): Promise<number> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.end();
  });
  server.on('tlsClientError', () => undefined);
  return listen(server);
}

/** A WHOIS server: one question, one answer. */
export function whoisServer(answer: (question: string) => string): Promise<number> {
  return tcpServer((socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('\r\n')) socket.end(answer(text.trim()));
    });
  });
}

export async function closeServers(): Promise<void> {
  await Promise.all(
    [...open].map(({ server, sockets }) => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
  open.clear();
}
