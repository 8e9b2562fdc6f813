/** Names of the fields that a change sets: those that are undefined stay as they are. */
export function setFields(change: object): string[] {
  return Object.entries(change).flatMap(([field, value]) => (value === undefined ? [] : [field]));
}
