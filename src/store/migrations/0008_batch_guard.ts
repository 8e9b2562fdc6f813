/** A table that holds no row: what would insert one ends its batch (see driver/guard.ts). */
export const batchGuard = `
CREATE TABLE batch_guard (
  holds INTEGER NOT NULL CONSTRAINT batch_guard_holds CHECK (holds = 1)
);
`;
