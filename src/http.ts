/** The HTTP shell: the ways in under one roof, and the few addresses of its own. */

import { Hono } from 'hono';
import type { HttpEnv } from './auth.js';
import { ServiceError } from './errors.js';
import { requireMetricsAccess } from './metrics-access.js';
import { failure, type PassageParts, passAll, refused } from './passage.js';

/** An app and the path it is mounted at; its own routes may already carry the whole path. */
export interface Mount {
  at: string;
  app: Hono<HttpEnv>;
}

export interface HttpMetrics {
  /** Who has it may read; null = whoever is on this machine. */
  token: string | null;
  request(status: number): void;
  /** The text format of Prometheus. */
  text(): Promise<string>;
}

export interface HttpParts extends PassageParts {
  ready(): Promise<{ ok: boolean; reasons: readonly string[] }>;
  /** Numbers about the process at `/metrics`; no such address without. */
  metrics?: HttpMetrics | undefined;
  mounts: readonly Mount[];
}

/** Put on by proxies. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'];

export function createHttp(parts: HttpParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { ok, reasons } = await parts.ready();
    return c.json(ok ? { status: 'ok' } : { status: 'not ready', reasons }, ok ? 200 : 503);
  });
  const { metrics } = parts;
  if (metrics !== undefined) {
    app.get('/metrics', async (c) => {
      const { authorization, address } = c.env.arrival;
      requireMetricsAccess(metrics.token, {
        authorization,
        address,
        host: new URL(c.req.url).host.replace(/:\d+$/, ''),
        forwarded: FORWARDED.some((name) => c.req.header(name) !== undefined),
      });
      return c.body(await metrics.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
    });
  }
  for (const { at, app: mounted } of parts.mounts) app.route(at, mounted);
  app.notFound(() => failure(new ServiceError('rest_no_route', 'There is nothing at this address.')));
  app.onError((error, c) => refused(parts, error, c.env.arrival, c.req.url));
  passAll(app, parts);
  return app;
}
