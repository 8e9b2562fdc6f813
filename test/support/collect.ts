/** Collects garbage, for tests of what must outlive it. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects everything that nothing holds. Weak references that were used in this turn of the event loop stay. */
export const collect = runInNewContext('gc') as () => void;
