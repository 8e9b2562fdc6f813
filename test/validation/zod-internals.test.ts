/** The schemas that extend zod classes behave like the classes they extend. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from '../../schemas/zod.js';
import { bounded, integerOrText, MAX_ISSUES } from '../../schemas/zod-internals.js';

/** Issues as plain data: zod nests whole errors in those of a union. */
function issuesOf(schema: z.ZodTypeAny, value: unknown): { path: unknown[] }[] {
  return JSON.parse(JSON.stringify(schema.safeParse(value).error?.issues ?? [])) as { path: unknown[] }[];
}

const scalar = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double(),
  fc.string({ maxLength: 4 }),
  fc.constantFrom(null, undefined, true, {}, [], [1], { a: 1 }, { a: 'x', b: 2 }),
);

/** Members for every outcome in zod: valid, aborted, dirty (a failed check), and changed by the schema. */
const members: Record<string, z.ZodTypeAny> = {
  number: z.number(),
  'positive integer': z.number().int().min(1),
  text: z.string(),
  'short text': z.string().min(1).max(2),
  'changed text': z.string().transform((text) => text.length),
  'refined text': z.string().refine((text) => text !== '' && text !== ' ', 'must say something'),
  'preprocessed number': z.preprocess((value) => (value === null ? 0 : value), z.number()),
  object: z.object({ a: z.number() }),
  list: z.array(z.number()).max(1),
  'integer or text': integerOrText(),
  unknown: z.unknown(),
};

const LIMITS: Record<string, <T extends z.ZodTypeAny>(array: z.ZodArray<T>) => z.ZodArray<T>> = {
  none: (array) => array,
  most: (array) => array.max(4, 'are too many'),
  least: (array) => array.min(2),
  both: (array) => array.min(1).max(4),
  exact: (array) => array.length(3),
};

describe('a bounded array', () => {
  for (const [name, member] of Object.entries(members)) {
    for (const [limits, limited] of Object.entries(LIMITS)) {
      it(`agrees with zod: ${name}, limits: ${limits}`, () => {
        const theirs = limited(z.array(member));
        const ours = bounded(limited(z.array(member)));
        const tooMany = limits === 'none' || limits === 'least' ? Number.POSITIVE_INFINITY : 4;
        fc.assert(
          fc.property(fc.oneof({ weight: 9, arbitrary: fc.array(scalar, { maxLength: 6 }) }, scalar), (value) => {
            const [expected, got] = [theirs.safeParse(value), ours.safeParse(value)];
            expect(got.success).toBe(expected.success);
            if (expected.success) expect(got.data).toStrictEqual(expected.data);
            // The members of a list that is too long are not validated.
            else if (limits !== 'exact' && Array.isArray(value) && value.length > tooMany)
              expect(issuesOf(ours, value)).toEqual(issuesOf(theirs, value).filter(({ path }) => path.length === 0));
            else expect(issuesOf(ours, value)).toEqual(issuesOf(theirs, value));
          }),
          { numRuns: 60, seed: 11 },
        );
      });
    }
  }

  it('agrees with zod inside an object, with its path', () => {
    const shape = (array: z.ZodTypeAny) => z.object({ ids: array.optional(), name: z.string() });
    const [theirs, ours] = [shape(z.array(z.number())), shape(bounded(z.array(z.number())))];
    for (const value of [
      { name: 'x' },
      { name: 'x', ids: [1] },
      { name: 1, ids: ['a', 2, 'b'] },
      { name: 'x', ids: 3 },
    ])
      expect(issuesOf(ours, value)).toEqual(issuesOf(theirs, value));
  });

  it('reports no more than the first bad members', () => {
    const value = Array.from({ length: 3 * MAX_ISSUES }, () => 'x');
    const [theirs, ours] = [z.array(z.number()), bounded(z.array(z.number()))];
    expect(issuesOf(ours, value)).toEqual(issuesOf(theirs, value).slice(0, MAX_ISSUES));
  });
});

describe('an integer or a text', () => {
  const plain = z.union([z.number().int(), z.string()]);

  it('accepts what the union accepts', () => {
    fc.assert(
      fc.property(scalar, (value) => {
        const [expected, got] = [plain.safeParse(value), integerOrText().safeParse(value)];
        expect(got.success).toBe(expected.success);
        expect(got.data).toStrictEqual(expected.data);
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  it.each([[null], [true], [{}], [[1]], [undefined]])('refuses %s as the union does', (value) => {
    expect(issuesOf(integerOrText(), value)).toEqual(issuesOf(plain, value));
  });

  it.each([[1.5], [Number.NaN]])('refuses the number %s as the integer does', (value) => {
    expect(issuesOf(integerOrText(), value)).toEqual(issuesOf(z.number().int(), value));
  });
});
