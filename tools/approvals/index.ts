import type { Operation } from '../../src/operation/operation.js';
import listApprovals from './list-approvals-v1.js';
import withdrawApproval from './withdraw-approval-v1.js';

export const approvals: readonly Operation[] = [listApprovals, withdrawApproval];
