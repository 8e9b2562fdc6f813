/** Servers for one test, all on loopback. */

import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { listenLocally } from '../support/local-server.js';

const listen = async (server: Server): Promise<number> => (await listenLocally(server)).port;

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
