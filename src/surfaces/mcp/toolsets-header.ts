/** The tool choice of a connection: some toolsets, read-only, or a lean list. Never widens the rights of the login. */

import type { HonoRequest } from 'hono';
import type { Actor, ToolChoice } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { DEFAULT_TOOLSETS, TOOLSETS, type Toolset } from '../../runtime/toolsets.js';

const LEAN = 'lean';
/** Stands for the toolsets that are shown by default. */
const DEFAULT = 'default';
const ALL = 'all';
/** Words that stand for several toolsets. */
const GROUPS: Readonly<Record<string, readonly Toolset[]>> = { [DEFAULT]: DEFAULT_TOOLSETS, [ALL]: TOOLSETS };
const YES: ReadonlySet<string> = new Set(['1', 'true', 'yes']);
const NO: ReadonlySet<string> = new Set(['', '0', 'false', 'no']);

/** Parses a choice from an address, headers or the command line; undefined without one. Throws `svc_invalid_input`. */
export function toolChoice(written: {
  toolsets?: string | undefined;
  readonly?: string | undefined;
}): ToolChoice | undefined {
  if (written.toolsets === undefined && written.readonly === undefined) return undefined;
  const names = (written.toolsets ?? '')
    .toLowerCase()
    .split(',', 100)
    .map((name) => name.trim())
    .filter(Boolean);
  const unknown = names.find((name) => name !== LEAN && !Object.hasOwn(GROUPS, name) && !isToolset(name));
  if (unknown !== undefined || (written.toolsets !== undefined && names.length === 0))
    throw refused('toolsets', unknown ?? '', `Send some of ${DEFAULT}, ${TOOLSETS.join(', ')}, or ${ALL}, or ${LEAN}.`);
  const sets = names.flatMap((name) =>
    Object.hasOwn(GROUPS, name) ? (GROUPS[name] ?? []) : isToolset(name) ? [name] : [],
  );
  return {
    toolsets: sets.length === 0 ? null : TOOLSETS.filter((name) => sets.includes(name)),
    read_only: flagOf(written.readonly ?? ''),
    lean: names.includes(LEAN),
  };
}

/** The choice of the address and that of the headers; where both choose, only tools that both allow remain. */
export function requestedTools(request: HonoRequest): ToolChoice | undefined {
  return narrowest(
    toolChoice({ toolsets: request.query('toolsets'), readonly: request.query('readonly') }),
    toolChoice({ toolsets: request.header('x-sitefleet-toolsets'), readonly: request.header('x-sitefleet-readonly') }),
  );
}

function narrowest(a: ToolChoice | undefined, b: ToolChoice | undefined): ToolChoice | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const [one, other] = [a.toolsets, b.toolsets];
  return {
    toolsets: one === null || other === null ? (one ?? other) : one.filter((name) => other.includes(name)),
    read_only: a.read_only || b.read_only,
    lean: a.lean || b.lean,
  };
}

export function withToolChoice(actor: Actor, choice: ToolChoice | undefined): Actor {
  return choice === undefined ? actor : { ...actor, tools: choice };
}

function isToolset(name: string): name is Toolset {
  return (TOOLSETS as readonly string[]).includes(name);
}

function flagOf(text: string): boolean {
  const plain = text.trim().toLowerCase();
  if (YES.has(plain)) return true;
  if (NO.has(plain)) return false;
  throw refused('readonly', plain, 'Send 1 or 0.');
}

function refused(field: string, value: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${field}: ${JSON.stringify(value.slice(0, 50))} is not known.`, {
    field,
    advice,
  });
}
