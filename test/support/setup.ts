/** Set-up of each test file. Hooks run in reverse order, so this one runs after those of the file. */

import { afterAll } from 'vitest';
import { cleanUp } from './cleanup.js';

afterAll(cleanUp);
