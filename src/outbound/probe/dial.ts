import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import { type SecureContext, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { StepFailure } from './failure.js';
import { blocked, type Names } from './names.js';

export interface DialRequest {
  host: string;
  port: number;
  /** Null = plain TCP. */
  tls: { context: SecureContext; verify: boolean; alpn?: string[] } | null;
  signal: AbortSignal;
}

export interface Dialled {
  socket: Socket;
  ip: string;
  dns_ms: number | null;
  connect_ms: number;
  tls_ms: number | null;
}

/**
 * Opens one connection to an allowed address, timing each step. Rejects with the failure, or with the signal's reason;
 * the socket is closed then.
 */
export async function dial(names: Names, request: DialRequest): Promise<Dialled> {
  const { host, signal } = request;
  signal.throwIfAborted();
  const { addresses, ms: dns_ms } = await orAborted(names.resolve(host), signal);
  const lookup: LookupFunction = (_host, options, done) => {
    const first = addresses[0];
    if (options.all === true) done(null, [...addresses]);
    // `resolve` never returns an empty list.
    else if (first !== undefined) done(null, first.address, first.family);
  };
  const common = {
    host,
    port: request.port,
    noDelay: true,
    autoSelectFamily: true,
    // Node's 250 ms per address drops distant hosts whose second address family does not work at all.
    autoSelectFamilyAttemptTimeout: 1_000,
    lookup,
  };
  const began = performance.now();
  const { tls } = request;
  const socket =
    tls === null
      ? netConnect(common)
      : tlsConnect({
          ...common,
          secureContext: tls.context,
          rejectUnauthorized: tls.verify,
          // SNI carries names only; for a literal address Node checks the certificate against `host`.
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ...(tls.alpn === undefined ? {} : { ALPNProtocols: tls.alpn }),
        });
  return new Promise((resolve, reject) => {
    let connected = 0;
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    const done = () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', fail);
      // The user of the socket handles errors; until then they must not end the process.
      socket.on('error', () => undefined);
      const tls_ms = tls === null ? null : performance.now() - connected;
      resolve({ socket, ip: socket.remoteAddress ?? '', dns_ms, connect_ms: connected - began, tls_ms });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail);
    socket.once('close', () =>
      fail(new StepFailure('unreachable', `${host} closed the connection while it was being opened.`)),
    );
    socket.once('connect', () => {
      connected = performance.now();
      // Second line of defense: nothing is sent over a socket connected to an internal address, however the name was
      // resolved.
      if (!names.mayUse(socket.remoteAddress)) fail(blocked(host));
      else if (tls === null) done();
    });
    if (tls !== null) (socket as TLSSocket).once('secureConnect', done);
  });
}

/** The work's result, or the signal's reason if that comes first. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
