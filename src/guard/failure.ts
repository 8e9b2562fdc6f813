/** What a call of the guard fails with. */

/** `no_guard`: no address gave a guard's answer. `bad_answer`: one did, but not as agreed. All others are the guard's own codes. */
export class GuardFailure extends Error {
  readonly code: string;
  /** HTTP status of each address that was tried, in order. */
  readonly statuses: readonly number[];
  /** What the site's clock says, unix seconds; null when it did not say. */
  readonly siteTime: number | null;

  constructor(code: string, message: string, statuses: readonly number[] = [], siteTime: number | null = null) {
    super(message);
    this.name = 'GuardFailure';
    this.code = code;
    this.statuses = statuses;
    this.siteTime = siteTime;
  }
}
