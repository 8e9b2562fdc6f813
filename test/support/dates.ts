/** The dates tests are made of. None comes from the machine, so that a test gives the same answer on every day. */

/** When the clock of a test service starts. */
export const START = Date.UTC(2026, 10, 20, 12, 0, 0);

/**
 * A certificate with these dates is in date for both who judge it: the service by the clock of the test, and OpenSSL, which
 * knows the machine's clock alone.
 */
export const ALWAYS = { notBefore: Date.UTC(2000, 0, 1), notAfter: Date.UTC(2099, 11, 31) };

/** Over and not begun, for both. */
export const OVER = { notBefore: Date.UTC(2000, 0, 1), notAfter: Date.UTC(2001, 0, 1) };
export const TO_COME = { notBefore: Date.UTC(2098, 0, 1), notAfter: Date.UTC(2099, 0, 1) };
