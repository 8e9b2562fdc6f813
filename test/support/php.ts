/** The PHP that the tests run: the one of this machine, or the one that `SITEFLEET_TEST_PHP` names. */
export const PHP = process.env.SITEFLEET_TEST_PHP || 'php';
