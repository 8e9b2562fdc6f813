/** An HTTP agent whose sockets go to addresses that may be called, and nowhere else. */

import { Agent } from 'undici';
import type { Names } from './names.js';

/** Every socket goes to an address that was checked, however often the name changes its mind. */
export function checkedAgent(names: Names, connectTimeoutMs: number): Agent {
  return new Agent({
    connect: {
      timeout: connectTimeoutMs,
      lookup: (host, options, done) => {
        names.resolve(host).then(
          ({ addresses }) => {
            const [first] = addresses;
            if (options.all === true) done(null, [...addresses]);
            else done(null, first?.address ?? '', first?.family);
          },
          (error: Error) => done(error, '', 4),
        );
      },
    },
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 2_000,
  });
}

/** Rejects with a StepFailure when a URL leads to an address that is not called: a literal one is connected to without a look-up. */
export async function checkAddress(names: Names, url: string): Promise<void> {
  await names.resolve(new URL(url).hostname.replace(/^\[(.*)\]$/, '$1'));
}
