import type { Operation } from '../../src/operation/operation.js';
import addCost from './add-cost-v1.js';
import deleteCost from './delete-cost-v1.js';
import listCosts from './list-costs-v1.js';
import updateCost from './update-cost-v1.js';

export const costs: readonly Operation[] = [listCosts, addCost, updateCost, deleteCost];
