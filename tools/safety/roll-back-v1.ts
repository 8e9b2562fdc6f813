import { rollBackChanges, rollBackInput, rolledBack } from '../../schemas/safety.js';
import { plannedRollBack, rollBack } from '../../src/domain/updates/safe/roll-back.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/roll-back-v1',
  title: 'Roll back an update',
  about:
    'Rolls a plugin or theme back to an earlier version and checks the site. Name a change, or site, type and slug.',
  effect: 'write',
  change: rollBackChanges,
  plan: (input, ctx) => plannedRollBack(ctx, input),
  idempotent: true,

  input: rollBackInput,

  output: rolledBack,

  handle: (input, ctx) => rollBack(ctx, input),
});
