import type { Operation } from '../../src/operation/operation.js';
import getBatchJobStatus from './get-batch-job-status-v1.js';

/** In the order of the user's document. */
export const jobs: readonly Operation[] = [getBatchJobStatus];
