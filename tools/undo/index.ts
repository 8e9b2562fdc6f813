import type { Operation } from '../../src/operation/operation.js';
import undoChange from './undo-change-v1.js';

export const undo: readonly Operation[] = [undoChange];
