/**
 * What a job handler is: the work of one kind of job on one site. A direct call and the queue run the same handler
 * (operations §6, §11.20). Each noun has its own in a `handler.ts`; `app/job-handlers.ts` is the table of all.
 */

import type { JobType } from '../../../schemas/job.js';
import type { ErrorCode } from '../../runtime/errors.js';
import type { JobItem } from '../../store/jobs/rows.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';

/** The work of one kind of job on one site. `P` are its parameters, stored with the job as JSON; `R` is its result. */
export interface JobHandler<P, R> {
  type: JobType;
  /** Error code for a failure that has none. */
  failure: ErrorCode;
  /**
   * A job none of whose sites has ended for this long only waits for them, and others have its turn. Null: never, as it works
   * all the time. Without it 5 s.
   */
  waitsAfterMs?: number | null;
  /**
   * Throws ServiceError when the work failed as a whole.
   * @param begin called with what is about to be changed, as JSON; `resume` gets it if this run does not end
   */
  run(ctx: Ctx, site: LoadedSite, params: P, begin?: Begin): Promise<R>;
  /** True for a partial result: the call ran out of time. */
  interrupted?(result: R): boolean;
  /**
   * Runs instead of `run` if a previous run was interrupted and may have taken effect: checks the site, then does the
   * rest.
   */
  resume?(ctx: Ctx, site: LoadedSite, params: P, earlier: Earlier): Promise<R>;
  /** What a result means for a job; without it the site has succeeded. */
  outcomeOf?(result: R): SiteOutcome;
}

export type Begin = (work: object) => void;

/** An interrupted run of a handler. */
export interface Earlier {
  /** What it had begun, as JSON; null = nothing, or the process died. */
  begun: string | null;
  /** What it had already reported. */
  items: readonly JobItem[];
}

/** The outcome of a job on one site. */
export interface SiteOutcome {
  /** The site counts as failed. */
  failed: boolean;
  /** The error, possibly on a site that succeeded; '' = none. */
  code: ErrorCode | '';
  message: string;
  /** What was done and what was not, for the status of the job. */
  items: readonly JobItem[];
}

export type NoParams = Record<string, never>;

/** The handler of a stored job, whose parameters were written for this type. */
export type HandlerOf = (type: JobType) => JobHandler<object, unknown>;
