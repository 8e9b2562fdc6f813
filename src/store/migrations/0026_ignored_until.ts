/** Updates that are ignored on every site until an instant: milliseconds, NULL = until it is taken back. */
export const ignoredUntil = `
ALTER TABLE ignored_everywhere ADD COLUMN until INTEGER;
`;
