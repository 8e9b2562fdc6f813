/** All REST rows, in the order of the routes document. To add a table: import it and list it here. */

import { keys } from './keys.js';
import type { Route } from './route.js';

export const routes: readonly Route[] = [...keys];
