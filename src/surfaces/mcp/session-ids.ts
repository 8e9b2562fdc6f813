/**
 * Session ids that contain the facts of a session (revisions up to 2025-11-25), sealed for one principal. A session is
 * restored from its id after a restart, after it was closed to make room, or in another process with the same key.
 */

import { cleanLine } from '../../../schemas/text.js';
import { APPS_DECLARED, showsApps } from './apps.js';
import type { JsonObject } from './tool-result.js';

/** The parts of a client's `initialize` request that later calls depend on. */
export interface SessionFacts {
  protocolVersion: string;
  /** The client's `elicitation` capability; undefined when it cannot ask its user. */
  elicitation?: JsonObject | undefined;
  /** As the client calls itself, cut; undefined when it does not. */
  client?: { name: string; version: string } | undefined;
  /** The client shows views, see apps.ts. */
  apps?: true | undefined;
}

/** Authenticated encryption of a text bound to a place; `open` throws for another place or any other text. */
export interface SessionSeal {
  seal(plain: string, place: string): string;
  open(sealed: string, place: string): string;
}

/** Ids older than this do not restore a session: the client has to initialize again. */
const LIFETIME_MS = 30 * 24 * 60 * 60_000;
/** Longest id that is opened; issued ids are shorter. */
const MAX_ID = 1000;
const MAX_VERSION = 40;
const MAX_NAME = 80;

/** Extracts the facts from an `initialize` request; missing or invalid members are left out. */
export function sessionFacts(initialize: unknown): SessionFacts {
  const { params } = (initialize ?? {}) as {
    params?: { protocolVersion?: unknown; capabilities?: unknown; clientInfo?: unknown };
  };
  const capabilities = (params?.capabilities ?? {}) as { elicitation?: unknown; extensions?: unknown };
  const { elicitation } = capabilities;
  const modes = typeof elicitation === 'object' && elicitation !== null ? elicitation : undefined;
  const kept = modes && Object.fromEntries(['form', 'url'].filter((mode) => mode in modes).map((mode) => [mode, {}]));
  return {
    protocolVersion: String(params?.protocolVersion ?? '').slice(0, MAX_VERSION),
    ...(kept === undefined ? {} : { elicitation: kept }),
    ...clientOf(params?.clientInfo),
    ...(showsApps(capabilities) ? { apps: true } : {}),
  };
}

function clientOf(info: unknown): Pick<SessionFacts, 'client'> {
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || typeof version !== 'string') return {};
  return { client: { name: cleanLine(name, MAX_NAME), version: cleanLine(version, MAX_VERSION) } };
}

/** Params of an `initialize` request with the same facts. */
export function initializeParams({ protocolVersion, elicitation, apps, client }: SessionFacts): JsonObject {
  return {
    protocolVersion,
    capabilities: {
      ...(elicitation === undefined ? {} : { elicitation }),
      ...(apps === undefined ? {} : { extensions: APPS_DECLARED }),
    },
    clientInfo: client ?? { name: 'restored session', version: '0' },
  };
}

/** Issues a new id, different for each session. */
export function issueSessionId(seal: SessionSeal, principal: string, facts: SessionFacts, now: number): string {
  return seal.seal(JSON.stringify({ ...facts, issued: now }), placeOf(principal));
}

/** The facts in an id issued to this principal; undefined for any other text, or when the id is too old. */
export function openSessionId(seal: SessionSeal, principal: string, id: string, now: number): SessionFacts | undefined {
  if (id.length > MAX_ID) return undefined;
  try {
    const { issued, ...facts } = JSON.parse(seal.open(id, placeOf(principal))) as SessionFacts & { issued: number };
    return now - issued > LIFETIME_MS ? undefined : facts;
  } catch {
    return undefined;
  }
}

function placeOf(principal: string): string {
  return `mcp_session:${principal}`;
}
