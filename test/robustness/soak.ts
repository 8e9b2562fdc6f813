/** Length of the tests: the normal run is short; `npm run soak` selects the long form. */
export const SOAK = process.env.SITEFLEET_TEST_SOAK === '1';

export function shortOrLong(short: number, long: number): number {
  return SOAK ? long : short;
}
