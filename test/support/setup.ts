/** Set-up of each test file. Later hooks run in reverse order, so these run after those of the file. */

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { cleanUp, closeDownTo, countOpen } from './cleanup.js';
import { dropLeftovers } from './faketime.js';

beforeAll(() => {
  if (process.env.LD_PRELOAD !== undefined) dropLeftovers();
});

let openBefore = 0;
beforeEach(() => {
  openBefore = countOpen();
});
afterEach(() => closeDownTo(openBefore));
afterAll(cleanUp);
