/** Triggers on tables with sealed columns. */

import { KEY_REPLACED } from '../driver/sqlite-errors.js';

/** Sealed with another key than the one that the instance has noted; NULL while it has noted none. */
function isForeign(text: string): string {
  return `(substr(${text}, 1, 3) = 'v1.' AND substr(${text}, 4, 8) <> (SELECT value FROM instance WHERE key = 'secret_key_id'))`;
}

/**
 * Refuses what was sealed with another key than the noted one: a process that keeps a key while it is replaced would
 * store secrets that nobody can open.
 */
export function refuseFormerKeys(table: string, columns: readonly string[]): string {
  const refusal = `BEGIN SELECT RAISE(ABORT, '${KEY_REPLACED}'); END`;
  const any = (condition: (column: string) => string) => columns.map(condition).join(' OR ');
  return `
CREATE TRIGGER ${table}_key_insert BEFORE INSERT ON ${table}
  WHEN ${any((column) => isForeign(`new.${column}`))} ${refusal};
CREATE TRIGGER ${table}_key_update BEFORE UPDATE OF ${columns.join(', ')} ON ${table}
  WHEN ${any((column) => `(new.${column} IS NOT old.${column} AND ${isForeign(`new.${column}`)})`)} ${refusal};
`;
}
