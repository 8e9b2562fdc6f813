/** The stored fields of a cost. */

import type { newCost } from '../../../schemas/cost.js';
import type { z } from '../../../schemas/zod.js';

/** `price` is decimal text, `last_renewal` `YYYY-MM-DD`. */
export type CostFields = Omit<z.output<ReturnType<typeof newCost>>, 'sites' | 'groups' | 'clients'>;
