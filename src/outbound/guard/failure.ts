/** The error of a failed guard call. */

/**
 * `no_guard`: no address gave a guard's answer. `bad_answer`: one did, but it was invalid. All others are the guard's
 * own codes.
 */
export class GuardFailure extends Error {
  readonly code: string;
  /** HTTP status of each address that was tried, in order. */
  readonly statuses: readonly number[];
  /** The site's clock, unix seconds; null if unknown. */
  readonly siteTime: number | null;

  constructor(code: string, message: string, statuses: readonly number[] = [], siteTime: number | null = null) {
    super(message);
    this.name = 'GuardFailure';
    this.code = code;
    this.statuses = statuses;
    this.siteTime = siteTime;
  }
}
