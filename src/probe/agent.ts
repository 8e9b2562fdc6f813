/** An HTTP agent that connects only to allowed addresses. */

import { Agent } from 'undici';
import { hostOf, type Names } from './names.js';

/** Every socket goes to a checked address, even if the name changes. */
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

/** Rejects with a StepFailure if a URL contains a forbidden address: a literal one is connected to without a lookup. */
export async function checkAddress(names: Names, url: string): Promise<void> {
  await names.resolve(hostOf(new URL(url)));
}
