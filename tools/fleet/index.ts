import type { Operation } from '../../src/operation/operation.js';
import switchPlugin from './switch-plugin-v1.js';
import unsuspendSites from './unsuspend-sites-v1.js';

export const fleet: readonly Operation[] = [unsuspendSites, switchPlugin];
