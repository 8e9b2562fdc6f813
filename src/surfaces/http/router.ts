/** The HTTP router: mounts the ways in, and serves health, readiness and metrics. */

import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { ServiceError } from '../../runtime/errors.js';
import { requireMetricsAccess } from './metrics-access.js';
import {
  type Envelope,
  errorResponse,
  installPipeline,
  loggedErrorResponse,
  type PipelineParts,
  type RequestFacts,
} from './pipeline.js';
import type { HttpEnv } from './request-info.js';

/** An app and the path it is mounted at; its own routes may already carry the whole path. */
export interface Mount {
  at: string;
  app: Hono<HttpEnv>;
  /** Wraps errors for requests that are refused before they reach the app; by default `{code, message, data}`. */
  envelope?: Envelope;
}

export interface HttpMetrics {
  /** Bearer token for reading the metrics; null = no token, but only from this machine. */
  token: string | null;
  request(facts: RequestFacts): void;
  /** The metrics in Prometheus text format. */
  text(): Promise<string>;
}

export interface RouterParts extends PipelineParts {
  ready(): Promise<{ ok: boolean; reasons: readonly string[] }>;
  /** Metrics at `/metrics`; without them the route does not exist. */
  metrics?: HttpMetrics | undefined;
  mounts: readonly Mount[];
  /** The answer to a browser where nothing is; undefined for programs. */
  missing?: (request: Request) => Response | undefined;
}

/** Headers added by proxies: with any of them, the peer's address is not the client's. */
const FORWARDED =
  /^(x-forwarded|x-real-ip$|x-client-ip$|x-cluster-client-ip$|x-original-|x-envoy-|true-client-ip$|fastly-client-ip$|fly-client-ip$|cf-|cdn-loop$|forwarded$|via$)/i;
/**
 * Paths that answer to any host name: health checks and collectors call by IP address. Each has its own access rules.
 */
const OPEN = new Set(['/healthz', '/readyz', '/metrics']);

export function createRouter(parts: RouterParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const envelopes = parts.mounts.flatMap(({ envelope }) => envelope ?? []);
  installPipeline(app, parts, { open: OPEN, envelopes });
  // Ways in that take every method of their paths refuse them on their own.
  app.use(methodNotAllowed({ app, onMethodNotAllowed: (c, allow) => errorResponse(notAllowed(c.req.method, allow)) }));
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { ok, reasons } = await parts.ready();
    return c.json(ok ? { status: 'ok' } : { status: 'not ready', reasons }, ok ? 200 : 503);
  });
  const { metrics } = parts;
  if (metrics !== undefined) {
    app.get('/metrics', async (c) => {
      const { info, incoming } = c.env;
      requireMetricsAccess(metrics.token, {
        authorization: info.authorization,
        peer: incoming?.socket.remoteAddress ?? '127.0.0.1',
        host: new URL(c.req.url).hostname,
        forwarded: [...c.req.raw.headers.keys()].some((name) => FORWARDED.test(name)),
      });
      return c.body(await metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
    });
  }
  for (const { at, app: mounted } of parts.mounts) app.route(at, mounted);
  app.notFound(
    (c) =>
      parts.missing?.(c.req.raw) ?? errorResponse(new ServiceError('rest_no_route', 'Nothing exists at this path.')),
  );
  app.onError((error, c) => loggedErrorResponse(parts, error, c.env.info, c.req.url));
  return app;
}

function notAllowed(method: string, allow: readonly string[]): ServiceError {
  return new ServiceError('rest_method_not_allowed', `${method} is not supported here.`, {
    advice: `Use ${allow.join(' or ')}.`,
    data: { allow },
  });
}
