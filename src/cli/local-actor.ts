/** Who calls from the shell of this machine. */

import type { Actor } from '../core/actor.js';

/** The actor of the local shell. It is trusted, within READ_ONLY and TOOLSETS: it may read the database file anyway. */
export function localActor(via: 'mcp' | 'cli'): Actor {
  return { type: 'local', id: null, name: 'local', rights: ['read', 'write'], via, denied_sites: [] };
}
