/** An HTTP agent that connects only to allowed addresses. */

import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { hostOf, type Names } from './names.js';

/** Every socket goes to a checked address, even if the name changes. */
export function checkedAgent(names: Names, connectTimeoutMs: number): Agent {
  return new Agent({
    connect: { timeout: connectTimeoutMs, lookup: checkedLookup(names) },
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 2_000,
  });
}

/** Finds only allowed addresses. */
export function checkedLookup(names: Names): LookupFunction {
  return (host, options, done) => {
    names.resolve(host).then(
      ({ addresses }) => {
        const [first] = addresses;
        if (options.all === true) done(null, [...addresses]);
        else done(null, first?.address ?? '', first?.family);
      },
      (error: Error) => done(error, '', 4),
    );
  };
}

/** The code of a failed request, as ` (ECONNRESET)`; '' if it has none that may be shown. */
export function shownCode(error: unknown): string {
  const code = rawCode(error);
  return /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : '';
}

/** Whether a request ran out of time. */
export function isLate(error: unknown): boolean {
  return /TIMEOUT/.test(rawCode(error)) || (error instanceof Error && error.name === 'TimeoutError');
}

function rawCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Failures of a lookup, recognized by name: undici may wrap them as a cause. */
export function isStep(error: unknown): error is Error & { kind: unknown } {
  return error instanceof Error && 'kind' in error;
}

/** Rejects with a StepFailure if a URL contains a forbidden address: a literal one is connected to without a lookup. */
export async function checkAddress(names: Names, url: string): Promise<void> {
  await names.resolve(hostOf(new URL(url)));
}
