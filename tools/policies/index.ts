import type { Operation } from '../../src/operation/operation.js';
import listPolicies from './list-policies-v1.js';
import previewPolicy from './preview-policy-v1.js';

export const policies: readonly Operation[] = [listPolicies, previewPolicy];
