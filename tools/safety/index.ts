import type { Operation } from '../../src/operation/operation.js';
import rollBack from './roll-back-v1.js';
import safeUpdateSite from './safe-update-site-v1.js';

export const safety: readonly Operation[] = [safeUpdateSite, rollBack];
