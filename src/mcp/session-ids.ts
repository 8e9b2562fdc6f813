/**
 * Session ids that hold what a session of the revisions up to 2025-11-25 is made of: sealed for one principal, so that a session
 * is restored from its id after a restart, after it made room for others, and in another process with the same key.
 */

import { APPS_DECLARED, showsApps } from './apps.js';
import type { JsonObject } from './tool-result.js';

/** What a client said in `initialize` that later calls depend on. */
export interface SessionFacts {
  protocolVersion: string;
  /** The client's `elicitation` capability; undefined when it cannot ask its user. */
  elicitation?: JsonObject | undefined;
  /** It shows views beside answers, see apps.ts. */
  apps?: true | undefined;
}

/** Encrypts and authenticates a text for one place, and opens it again only there; `open` throws for anything else. */
export interface SessionSeal {
  seal(plain: string, place: string): string;
  open(sealed: string, place: string): string;
}

/** A client that is away for longer has to initialize again. */
const LIFETIME_MS = 30 * 24 * 60 * 60_000;
/** Longest id that is looked at: those that were issued are shorter. */
const MAX_ID = 1000;
const MAX_VERSION = 40;

/** The facts of an `initialize` request, whatever it holds. */
export function sessionFacts(initialize: unknown): SessionFacts {
  const { params } = (initialize ?? {}) as { params?: { protocolVersion?: unknown; capabilities?: unknown } };
  const capabilities = (params?.capabilities ?? {}) as { elicitation?: unknown; extensions?: unknown };
  const { elicitation } = capabilities;
  const modes = typeof elicitation === 'object' && elicitation !== null ? elicitation : undefined;
  const kept = modes && Object.fromEntries(['form', 'url'].filter((mode) => mode in modes).map((mode) => [mode, {}]));
  return {
    protocolVersion: String(params?.protocolVersion ?? '').slice(0, MAX_VERSION),
    ...(kept === undefined ? {} : { elicitation: kept }),
    ...(showsApps(capabilities) ? { apps: true } : {}),
  };
}

/** An `initialize` request that says the same. */
export function initializeParams({ protocolVersion, elicitation, apps }: SessionFacts): JsonObject {
  return {
    protocolVersion,
    capabilities: {
      ...(elicitation === undefined ? {} : { elicitation }),
      ...(apps === undefined ? {} : { extensions: APPS_DECLARED }),
    },
    clientInfo: { name: 'restored session', version: '0' },
  };
}

/** A new id, different for each session. */
export function issueSessionId(seal: SessionSeal, principal: string, facts: SessionFacts, now: number): string {
  return seal.seal(JSON.stringify({ ...facts, issued: now }), placeOf(principal));
}

/** The facts in an id that was issued to this principal; undefined for any other text, and when it is too old. */
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
