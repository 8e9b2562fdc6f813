/** What `sitefleet doctor` says of one thing. */

/** `warn` deserves attention; `fail` prevents something from working. */
export interface Finding {
  what: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
}
