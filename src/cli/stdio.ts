/** `sitefleet stdio`: MCP for one assistant on the same machine. */

import type { Actor, Config } from '../context.js';
import { createLog } from '../log.js';
import { assemble } from '../main.js';
import { serveStdio } from '../mcp/stdio.js';
import { stopSignal } from './stop.js';

/** Whoever may start the process may read its database: the shell is trusted, within READ_ONLY and TOOLSETS. */
export function localActor(via: 'mcp' | 'cli'): Actor {
  return { type: 'local', id: null, name: 'local', rights: ['read', 'write'], via, denied_sites: [] };
}

export async function stdio(config: Config): Promise<void> {
  const signal = stopSignal();
  const log = createLog(config.log_level);
  const service = await assemble({ config, log });
  const core = await service.mcp();
  // Not waited for: an assistant that starts us waits for its first answer.
  service.start().catch((error: unknown) => log.error({ err: error }, 'the schedule does not run'));
  await serveStdio({ core, actor: localActor('mcp'), signal });
  await service.stop();
}
