/** Lighthouse for the tests that really measure: the named one, else the one that is installed on this machine (`.ci/run` does that). */
export const installedLighthouse = process.env.SITEFLEET_TEST_LIGHTHOUSE ?? null;
