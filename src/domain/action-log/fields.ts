/** What a change replaced, as the action log keeps it, so that it can be undone: without logins, and within bounds. */

import type { FieldChanges } from '../../runtime/events.js';
import { LOGIN } from './call-input.js';

/** Characters of the JSON: the text of a long note, or a thousand sites. */
const MOST = 16_000;

/** JSON of the fields that changed; '' if that is too much to keep. */
export function keptFields(changed: FieldChanges): string {
  const kept = Object.entries(changed)
    .filter(([, change]) => change === null || !isSame(change[0], change[1]))
    .map(([field, change]) => [field, change !== null && LOGIN.test(JSON.stringify(change)) ? null : change]);
  const text = JSON.stringify(Object.fromEntries(kept));
  return text.length > MOST ? '' : text;
}

/** Values of JSON. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The given fields of two records, as an event has them. */
export function changesOf(before: object, since: object, fields: readonly string[]): FieldChanges {
  const of = (record: object, field: string) => (record as Record<string, unknown>)[field];
  return Object.fromEntries(fields.map((field) => [field, [of(before, field), of(since, field)] as const]));
}
