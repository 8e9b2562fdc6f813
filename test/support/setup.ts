/** Set-up of each test file. Later hooks run in reverse order, so these run after those of the file. */

import { afterAll, afterEach, beforeEach } from 'vitest';
import { cleanUp, closeDownTo, countOpen } from './cleanup.js';

let openBefore = 0;
beforeEach(() => {
  openBefore = countOpen();
});
afterEach(() => closeDownTo(openBefore));
afterAll(cleanUp);
