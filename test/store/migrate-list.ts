import type { Migration } from '../../src/store/driver/migrate.js';

/** Ten steps that fail when run twice, and that count how often they ran. */
export const manyMigrations: Migration[] = Array.from({ length: 10 }, (_, i) => ({
  id: i + 1,
  name: `step ${i + 1}`,
  sql: `${i === 0 ? 'CREATE TABLE step (id INTEGER);' : ''} CREATE TABLE made_${i + 1} (x); INSERT INTO step VALUES (${i + 1})`,
}));
