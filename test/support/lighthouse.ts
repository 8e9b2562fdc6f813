/**
 * Lighthouse for the tests that run real audits: the named one, else the one installed on this machine (`.ci/run`
 * installs it).
 */
export const installedLighthouse = process.env.SITEFLEET_TEST_LIGHTHOUSE ?? null;
