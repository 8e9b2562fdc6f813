/** For tests of what may not be written: root may write everywhere. */

const ORDINARY_USER = 65_534;

/**
 * Runs something that does not wait as an ordinary user, if the tests run as root. That user reaches only what is open
 * to all.
 */
export function withoutRoot<T>(what: () => T): T {
  if (process.geteuid?.() !== 0) return what();
  process.seteuid?.(ORDINARY_USER);
  try {
    return what();
  } finally {
    process.seteuid?.(0);
  }
}
