/** Runs chunks of queued jobs with the program's own handlers. */

import { handlerOf } from '../../src/app/job-handlers.js';
import { runNextChunk as run } from '../../src/domain/actions/chunk.js';
import type { Ctx } from '../../src/domain/context.js';

/** Claims one due job as `owner` and runs its next chunk; false if nothing was due. */
export const runNextChunk = (ctx: Ctx, owner: string): Promise<boolean> => run(ctx, handlerOf, owner);
