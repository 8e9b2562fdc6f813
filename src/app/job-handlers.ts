/** The table of job handlers: what the queue runs for each type of job. */

import type { JobType } from '../../schemas/job.js';
import type { HandlerOf, JobHandler } from '../domain/actions/handler.js';
import { backupHandler, restoreHandler } from '../domain/backups/handler.js';
import {
  checkHandler,
  disconnectHandler,
  reconnectHandler,
  suspendHandler,
  syncHandler,
  unsuspendHandler,
} from '../domain/connection/handlers.js';
import { extensionHandler } from '../domain/extensions/handler.js';
import { undoHandler } from '../domain/undo/handler.js';
import { updateHandler } from '../domain/updates/handler.js';

/** The handler of each job type. A type without one is a compile error. */
const JOB_HANDLERS = {
  sync: syncHandler,
  update: updateHandler,
  reconnect: reconnectHandler,
  disconnect: disconnectHandler,
  check: checkHandler,
  suspend: suspendHandler,
  extension: extensionHandler,
  unsuspend: unsuspendHandler,
  undo: undoHandler,
  backup: backupHandler,
  restore: restoreHandler,
} as const satisfies Record<JobType, object>;

/** The handler of a stored job, whose parameters were written for this type. */
export const handlerOf: HandlerOf = (type) => JOB_HANDLERS[type] as JobHandler<object, unknown>;
