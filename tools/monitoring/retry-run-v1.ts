import { dryRun, queuedFields, token } from '../../schemas/common.js';
import { appliedEntry, runOutcome, updatePreview } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { retryRun, sitesOfRetry } from '../../src/domain/updates/runs/retry.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/retry-run-v1',
  title: 'Retry a run of updates',
  about: "Applies a run's failed updates again, as a new run, except those that broke a site or were rolled back.",
  instructions: 'Show the user a dry_run first. Over 200 sites: a job.',
  effect: 'write',
  change: { kind: 'updates', sites: 'planned' },
  covers: ({ run_id }, ctx) => sitesOfRetry(ctx, run_id),
  idempotent: false,
  replaces: true,
  multi: true,

  input: () => z.object({ run_id: token(100).describe('Of a run that has ended.'), dry_run: dryRun() }),

  output: () =>
    z.object({
      ...queuedFields(),
      updated: z.array(appliedEntry()).optional(),
      ...runOutcome(),
      ...updatePreview(),
      total: z.number().int().optional().describe('Of a preview.'),
    }),

  handle: ({ run_id, dry_run }, ctx) => retryRun(ctx, run_id, dry_run),
});
