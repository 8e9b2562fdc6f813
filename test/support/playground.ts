/** WordPress Playground for the tests of copies: the named one, else the one installed on this machine (`.ci/run` installs it). */

import { findPlayground } from '../../src/outbound/copies/playground.js';

/** Its folder; null = there is none. */
export const playground = await findPlayground(process.env.SITEFLEET_TEST_PLAYGROUND ?? null);
