import type { Operation } from '../../src/operation/operation.js';
import addGuidance from './add-guidance-v1.js';
import decideGuidance from './decide-guidance-v1.js';
import listGuidance from './list-guidance-v1.js';

export const guidance: readonly Operation[] = [listGuidance, addGuidance, decideGuidance];
