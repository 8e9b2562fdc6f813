import type { Operation } from '../../src/operation/operation.js';
import controlRollout from './control-rollout-v1.js';
import getRollout from './get-rollout-v1.js';
import listRollouts from './list-rollouts-v1.js';
import planUpdates from './plan-updates-v1.js';
import startRollout from './start-rollout-v1.js';

export const rollouts: readonly Operation[] = [planUpdates, startRollout, getRollout, listRollouts, controlRollout];
