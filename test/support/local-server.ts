/** Servers of tests on loopback. */

import type { AddressInfo, Server, Socket } from 'node:net';
import { type HttpListener, listen } from '../../src/surfaces/http/server.js';
import { closing } from './cleanup.js';

interface LocalServer {
  port: number;
  /** Its address over HTTP, without a slash at the end. */
  url: string;
  close(): Promise<void>;
}

/** Starts a server on a free port of loopback. It is closed with its connections, like all that tests start. */
export async function listenLocally(server: Server, host = '127.0.0.1'): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return closing({
    port,
    url: `http://${host}:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  });
}

/** Serves the interfaces of a service on a free port of loopback. */
export async function serveLocally(http: Parameters<typeof listen>[0], unreadMs?: number): Promise<HttpListener> {
  const listener = await listen(http, { host: '127.0.0.1', port: 0 }, unreadMs);
  closing({ close: () => listener.close(0) });
  return listener;
}
