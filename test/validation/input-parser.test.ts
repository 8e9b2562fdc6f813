import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from '../../schemas/zod.js';
import { compileInputParser } from '../../src/operation/validation/input-parser.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { operations } from '../../tools/index.js';

/** Both parsers must agree on every value: the fast one may only be faster, or leave a value to the other. */
function agree(schema: z.AnyZodObject, quick: (value: unknown) => unknown, value: unknown): boolean {
  const slow = schema.safeParse(value);
  const parsed = quick(value);
  expect(parsed).toStrictEqual(slow.success ? slow.data : undefined);
  return slow.success;
}

const scalar = fc.oneof(
  fc.integer({ min: -2, max: 120 }),
  fc.constantFrom(
    '',
    '1',
    '20',
    'true',
    'no',
    'name',
    'asc',
    'any',
    'a,b',
    '2026-01-31',
    'https://example.com/',
    ' x ',
  ),
  fc.string({ maxLength: 12 }),
  fc.boolean(),
  fc.constantFrom(null, undefined, Number.NaN, 1.5),
);
const anything = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('id', 'name', 'slug', '__proto__'), scalar, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
  },
);

/** Objects with some of the members of a schema, and occasionally an unknown one. */
function near(schema: z.AnyZodObject): fc.Arbitrary<Record<string, unknown>> {
  const shape = schema.shape as Record<string, z.ZodTypeAny>;
  const members = Object.fromEntries(
    Object.entries(shape).map(([name, member]) => {
      const options = optionsOf(member);
      const fitting = options.length === 0 ? anything : fc.oneof(fc.constantFrom(...options), anything);
      return [name, fitting];
    }),
  );
  return fc
    .record(members, { requiredKeys: [] })
    .chain((own) => fc.constantFrom(own, own, own, { ...own, undeclared: 1 }, { ...own, toString: 'x' }));
}

/** Values of an enumeration, however it is wrapped. */
function optionsOf(schema: z.ZodTypeAny): unknown[] {
  if (schema instanceof z.ZodEnum) return schema.options as string[];
  if (schema instanceof z.ZodDefault) return optionsOf(schema._def.innerType as z.ZodTypeAny);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return optionsOf(schema.unwrap() as z.ZodTypeAny);
  return [];
}

describe('quickInput', () => {
  const tables: [string, z.AnyZodObject][] = [
    ...routes.map(({ key, params }): [string, z.AnyZodObject] => [key, params()]),
    ...operations.map(({ id, input }): [string, z.AnyZodObject] => [id, input()]),
  ];

  it('agrees with zod on the parameters of every row and operation', () => {
    let fitting = 0;
    for (const [name, schema] of tables) {
      const quick = compileInputParser(schema);
      agree(schema, quick, {});
      try {
        fc.assert(
          fc.property(near(schema), (value) => void (agree(schema, quick, value) && fitting++)),
          { numRuns: 25, seed: 7 },
        );
      } catch (error) {
        throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    // A test with refusals only would prove little.
    expect(fitting).toBeGreaterThan(tables.length);
  });

  const schema = z.object({
    page: z.number().default(1),
    tags: z.array(z.string()).default([]),
    shape: z.object({ a: z.number() }).default({ a: 1 }),
    name: z.string().optional(),
    note: z.string().nullable().default(null),
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['a member that is there and undefined', { page: undefined, name: undefined }],
    ['a value of the wrong type', { page: 'x' }],
    ['a list', []],
    ['null', null],
    ['text', 'x'],
    ['a Map', new Map([['page', 2]])],
    ['a Date', new Date(0)],
    ['an undeclared member', { more: 1 }],
    ['no prototype', Object.assign(Object.create(null), { page: 3 })],
    ['a member from JSON that would be the prototype', JSON.parse('{"__proto__": {"page": 9}}')],
  ])('agrees on %s', (_what, value) => {
    for (const one of [schema, schema.strict()]) {
      const expected = one.safeParse(value);
      const parsed = compileInputParser(one)(value);
      // Neither parser accepts a Map or a Date as an object; values the fast parser skips are judged by the other.
      if (parsed !== undefined) expect(parsed).toStrictEqual(expected.success ? expected.data : undefined);
      else if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype)
        expect(expected.success).toBe(false);
    }
  });

  it('makes new lists and objects for each caller', () => {
    const quick = compileInputParser(schema);
    const [one, other] = [quick({}), quick({})] as { tags: string[]; shape: { a: number } }[];
    one?.tags.push('mine');
    expect(other).toEqual({ page: 1, tags: [], shape: { a: 1 }, note: null });
    expect(quick({})).toEqual({ page: 1, tags: [], shape: { a: 1 }, note: null });
  });

  it('leaves alone what passes members on', () => {
    expect(compileInputParser(schema.passthrough())({})).toBeUndefined();
    expect(compileInputParser(schema.catchall(z.string()))({})).toBeUndefined();
  });
});
