/** The failure of a command that cannot be run as it was called. */

/** Reported in one line, exit code 1. */
export class CommandError extends Error {}
