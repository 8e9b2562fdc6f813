/** The HTTP half of the composition root, loaded only when HTTP is served, to keep other starts fast. */

import { Hono } from 'hono';
import type { OpenArchive } from '../domain/backups/archive.js';
import type { Call, GroupedOperation } from '../operation/operation.js';
import { builtFolder } from '../runtime/built-folder.js';
import type { Clock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import type { Log } from '../runtime/log.js';
import { VERSION } from '../runtime/version.js';
import { createRunApp } from '../surfaces/abilities/app.js';
import type { Auth } from '../surfaces/auth/auth.js';
import type { Sessions } from '../surfaces/auth/sessions.js';
import type { HttpEnv } from '../surfaces/http/request-info.js';
import { createRouter, type HttpMetrics } from '../surfaces/http/router.js';
import type { McpCore } from '../surfaces/mcp/core.js';
import { createMcpHttp } from '../surfaces/mcp/http.js';
import { mcpEnvelope } from '../surfaces/mcp/http-errors.js';
import type { SessionSeal } from '../surfaces/mcp/session-ids.js';
import { createPages, type Pages } from '../surfaces/page/pages.js';
import { createReference } from '../surfaces/page/reference.js';
import { createSessionRoutes, type SessionRouteParts } from '../surfaces/page/session-routes.js';
import { createRestApp } from '../surfaces/rest/app.js';
import { restEnvelope } from '../surfaces/rest/errors.js';
import { routes } from '../surfaces/rest/index.js';
import { describeInterface } from './interface-description.js';

export interface HttpAppParts {
  config: Config;
  clock: Clock;
  log: Log;
  auth: Auth;
  /** Browser sessions of users. */
  sessions: Sessions;
  /** True if no site has been added yet. */
  isFirstStart(): Promise<boolean>;
  /** The folder of the built page, if it is not next to the program. */
  pageFolder: string | undefined;
  operations: readonly GroupedOperation[];
  mcp: McpCore;
  /** Seals the ids of MCP sessions. */
  sessionSeal: SessionSeal;
  call: Call;
  openArchive: OpenArchive;
  newRequestId(): string;
  ready(): Promise<{ ok: boolean; reasons: string[] }>;
  metrics?: HttpMetrics | undefined;
}

export function createHttpApp(parts: HttpAppParts): { app: Hono<HttpEnv>; close(): void } {
  const { config, clock, log, auth, operations, call, newRequestId } = parts;
  const challenge = config.basic_challenge;
  const mcp = createMcpHttp({
    core: parts.mcp,
    sessionSeal: parts.sessionSeal,
    auth,
    publicUrl: config.base_url !== null,
    metadata: {
      issuer: config.oauth_issuer,
      read_scope: config.oauth_read_scope,
      write_scope: config.oauth_write_scope,
      basic_challenge: challenge,
    },
  });
  const run = createRunApp({ operations, invoke: call, auth, log, readOnly: config.read_only, challenge });
  const { sessions, isFirstStart } = parts;
  const pages = createPages(parts.pageFolder ?? builtFolder('web'));
  const { openArchive } = parts;
  const rest = createRestApp({ routes, call, auth, sessions, clock, log, config, version: VERSION, openArchive });
  const serve: SessionRouteParts['serve'] = (request, incoming) =>
    app.fetch(request, incoming === undefined ? {} : { incoming });
  const app: Hono<HttpEnv> = createRouter({
    config,
    log,
    newRequestId,
    ready: parts.ready,
    metrics: parts.metrics,
    mounts: [
      { at: '/', app: createFrontPage(pages) },
      { at: '/', app: pages.app },
      {
        at: '/',
        app: createReference(builtFolder('docs'), async () => JSON.stringify(await describeInterface(operations))),
      },
      { at: '/', app: createSessionRoutes({ sessions, readOnly: config.read_only, isFirstStart, serve }) },
      { at: '/', app: mcp.app, envelope: mcpEnvelope },
      { at: '/', app: run },
      { at: '/', app: rest, envelope: restEnvelope },
    ],
    missing: pages.missing,
  });
  return { app, close: () => mcp.close() };
}

/** `/`: the page for browsers, a list of entry points for programs. */
function createFrontPage(pages: Pages): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/', async (c) => {
    c.header('Vary', 'Accept');
    if (c.req.header('accept')?.includes('text/html') === true) return pages.document(c.req.raw.headers);
    const base = c.env.info.base_url;
    return c.json({
      name: 'sitefleet',
      version: VERSION,
      mcp: `${base}/mcp`,
      abilities: `${base}/wp-json/wp-abilities/v1/abilities`,
      v2: `${base}/v2`,
      openapi: `${base}/v2/openapi.json`,
      docs: `${base}/docs`,
    });
  });
  return app;
}
