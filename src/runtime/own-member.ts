/** Looks names from outside up in tables. */

/** The member of a table; undefined for a name that every object has, such as `constructor`. */
export function ownMember<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
