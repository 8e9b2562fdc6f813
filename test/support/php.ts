/** The PHP that the tests run: the one of this machine, or the one in `SITEFLEET_TEST_PHP`. */
export const PHP = process.env.SITEFLEET_TEST_PHP || 'php';
