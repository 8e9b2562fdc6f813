/** Fixed dates for tests. None comes from the machine, so that a test gives the same result every day. */

/** When the clock of a test service starts. */
export const START = Date.UTC(2026, 10, 20, 12, 0, 0);

/**
 * Validity of a certificate that is valid both for the service, by the clock of the test, and for OpenSSL, which only
 * uses the machine's clock.
 */
export const ALWAYS = { notBefore: Date.UTC(2000, 0, 1), notAfter: Date.UTC(2099, 11, 31) };

/** Expired and not yet valid, for both. */
export const OVER = { notBefore: Date.UTC(2000, 0, 1), notAfter: Date.UTC(2001, 0, 1) };
export const TO_COME = { notBefore: Date.UTC(2098, 0, 1), notAfter: Date.UTC(2099, 0, 1) };
