/**
 * Members of an answer that a change may repeat, but not alter: what a page of settings shows can be sent back as it is
 * (REST §6.10).
 */

import { isDeepStrictEqual } from 'node:util';
import type { z } from '../../../schemas/zod.js';
import { wrongField } from '../../domain/settings/settings.js';

type Optional<S extends z.ZodRawShape> = { [K in keyof S]: z.ZodOptional<S[K]> };

/** Parameters for members that are only shown, by their schemas in the answer. */
export function onlyShown<S extends z.ZodRawShape>(shape: S): Optional<S> {
  const about = 'Only shown: leave it out, or send it as GET shows it.';
  const members = Object.entries(shape).map(([name, schema]) => [name, schema.optional().describe(about)]);
  return Object.fromEntries(members) as Optional<S>;
}

/** Refuses a member that was sent with another value than is shown; returns the others, which can change. */
export async function withoutShown<T extends object, N extends string>(
  sent: T,
  names: readonly N[],
  shown: () => Promise<object>,
): Promise<Omit<T, N>> {
  const given = Object.entries(sent);
  const repeated = given.filter(([name, value]) => value !== undefined && names.some((each) => each === name));
  if (repeated.length > 0) {
    const now = new Map(Object.entries(await shown()));
    const [other] = repeated.find(([name, value]) => !isDeepStrictEqual(value, now.get(name))) ?? [];
    if (other !== undefined) {
      const reason = 'is only shown, and cannot be changed';
      throw wrongField(other, 'read_only', reason, `Leave ${other} out, or send it as GET shows it.`);
    }
  }
  return Object.fromEntries(given.filter(([name]) => !names.some((each) => each === name))) as Omit<T, N>;
}
