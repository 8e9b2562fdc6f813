import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import type { buildConnector } from 'undici';
import { dropOldest } from '../../../runtime/drop-oldest.js';
import { mayReach, type PrivateReach } from '../../public-address.js';
import { ChildFailure } from '../failure.js';
import type { MinTls } from './exchange.js';
import type { Resolver } from './resolve.js';
import { blockedAddress } from './site-url.js';

export type Connector = buildConnector.connector;

export interface ConnectorOptions {
  resolver: Resolver;
  allowPrivate: PrivateReach;
  verify: boolean;
  ipv4Only?: boolean | undefined;
  minTls?: MinTls | undefined;
  timeoutMs: number;
}

/** TLS sessions kept for resumption: a resumed handshake costs a third of a full one. */
const MAX_SESSIONS = 5_000;

/**
 * Opens the sockets of all outgoing calls. Addresses come from the resolver only, and the connected address is checked
 * again, so the check does not depend on the resolver. Each connector keeps its own TLS sessions: one made without
 * verification can never be resumed by calls that verify.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const lookup = lookupThrough(options.resolver, options.ipv4Only);
  const secureContext = createSecureContext(options.minTls === undefined ? {} : { minVersion: options.minTls });
  /** TLS sessions by host and port. */
  const sessions = new Map<string, Buffer>();
  const keep = (key: string, session: Buffer) => {
    sessions.delete(key);
    sessions.set(key, session);
    dropOldest(sessions, MAX_SESSIONS);
  };

  return (target, callback) => {
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    const secure = target.protocol === 'https:';
    const port = Number(target.port) || (secure ? 443 : 80);
    const literal = isIP(host) !== 0;
    if (literal && !mayReach(host, options.allowPrivate)) {
      callback(blockedAddress(host), null);
      return;
    }
    // Node's 250 ms per address drops distant hosts whose second address family does not work at all.
    const common = { host, port, lookup, noDelay: true, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 };
    const sessionKey = `${host}:${port}`;
    const session = sessions.get(sessionKey);
    const socket: Socket = secure
      ? tlsConnect({
          ...common,
          secureContext,
          rejectUnauthorized: options.verify,
          ALPNProtocols: ['http/1.1'],
          // SNI carries names only; for a literal address Node checks the certificate against `host`.
          ...(literal ? {} : { servername: host }),
          ...(session === undefined ? {} : { session }),
        })
      : netConnect(common);
    if (secure) socket.on('session', (fresh: Buffer) => keep(sessionKey, fresh));
    settle(socket, secure ? 'secureConnect' : 'connect', options, host, callback);
  };
}

function settle(
  socket: Socket,
  ready: string,
  options: ConnectorOptions,
  host: string,
  callback: buildConnector.Callback,
): void {
  let open = true;
  const timer = setTimeout(() => {
    const failure = new ChildFailure(
      'timed_out',
      `${host} did not accept a connection within ${options.timeoutMs} ms.`,
      {
        advice: 'Check that the server is up and that no firewall drops the connection.',
      },
    );
    socket.destroy(failure);
  }, options.timeoutMs);
  const finish = (error: Error | null): void => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    if (error === null) callback(null, socket);
    else callback(error, null);
  };
  // Second line of defense: whatever the resolver returned, no request goes to a socket connected to an internal
  // address.
  socket.once('connect', () => {
    if (!mayReach(socket.remoteAddress ?? '', options.allowPrivate)) socket.destroy(blockedAddress(host));
  });
  socket.once(ready, () => {
    if (!socket.destroyed) finish(null);
  });
  socket.on('error', (error) => finish(error));
  socket.once('close', () =>
    finish(new ChildFailure('unreachable', `${host} closed the connection while it was being opened.`)),
  );
}

function lookupThrough(resolver: Resolver, ipv4Only: boolean | undefined): LookupFunction {
  return (hostname, options, callback) => {
    resolver.resolve(hostname, ipv4Only).then(
      (addresses) => {
        const first = addresses[0];
        if (options.all === true) callback(null, [...addresses]);
        // `resolve` never returns an empty list.
        else if (first !== undefined) callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
    );
  };
}
