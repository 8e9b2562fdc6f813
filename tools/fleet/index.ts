import type { Operation } from '../../src/operation/operation.js';
import unsuspendSites from './unsuspend-sites-v1.js';

export const fleet: readonly Operation[] = [unsuspendSites];
