/** The actor of calls from the local shell. */

import { randomUUID } from 'node:crypto';
import type { Actor, Right } from '../runtime/actor.js';

/** The actor of the local shell. It is trusted, within READ_ONLY and TOOLSETS: it can read the database file anyway. */
export function localActor(via: 'mcp' | 'cli'): Actor {
  const rights: Right[] = via === 'cli' ? ['read', 'write', 'approve'] : ['read', 'write'];
  return { type: 'local', id: null, name: 'local', rights, via };
}

/** One call from the local shell. */
export function localCaller(signal: AbortSignal) {
  return { actor: localActor('cli'), request_id: randomUUID(), signal };
}
