import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from '../../schemas/zod.js';
import { compileSerializer } from '../../src/operation/validation/response-serializer.js';
import { operations } from '../../tools/index.js';

/** Both serializers must agree on every value: the fast one may only be faster. */
function agree(schema: z.AnyZodObject, value: unknown): void {
  const quick = compileSerializer(schema)(value);
  const slow = schema.safeParse(value);
  expect(quick).toStrictEqual(slow.success ? slow.data : undefined);
}

/** Values of roughly a schema's shape, valid and invalid in every place. */
function near(schema: z.ZodTypeAny): fc.Arbitrary<unknown> {
  const anything = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.constant([]),
    fc.constant({}),
  );
  const right = (): fc.Arbitrary<unknown> => {
    if (schema instanceof z.ZodObject) {
      const members = Object.entries(schema.shape as Record<string, z.ZodTypeAny>).map(([name, member]) => [
        name,
        near(member),
      ]);
      return fc.record(
        { ...Object.fromEntries(members), undeclared: anything } as Record<string, fc.Arbitrary<unknown>>,
        { requiredKeys: [] },
      );
    }
    if (schema instanceof z.ZodArray) return fc.array(near(schema.element as z.ZodTypeAny), { maxLength: 3 });
    if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
      return fc.oneof(near(schema.unwrap() as z.ZodTypeAny), fc.constant(null), fc.constant(undefined));
    if (schema instanceof z.ZodUnion) return fc.oneof(...(schema.options as z.ZodTypeAny[]).map(near));
    if (schema instanceof z.ZodEnum) return fc.constantFrom(...(schema.options as string[]));
    if (schema instanceof z.ZodString) return fc.string();
    if (schema instanceof z.ZodNumber) return fc.integer();
    if (schema instanceof z.ZodBoolean) return fc.boolean();
    return anything;
  };
  return fc.oneof({ weight: 60, arbitrary: right() }, { weight: 1, arbitrary: anything });
}

describe('stripper', () => {
  it.each(operations.map((operation) => [operation.id, operation.output()] as const))(
    'agrees with zod on the answers of %s',
    (_id, output) => {
      fc.assert(
        fc.property(near(output), (value) => agree(output, value)),
        { numRuns: 60, seed: 1 },
      );
    },
  );

  const schema = z.object({
    id: z.number().int(),
    ratio: z.number(),
    name: z.string().min(2),
    note: z.string().nullable(),
    extra: z.string().optional(),
    state: z.enum(['on', 'off']),
    kind: z.literal('x'),
    any: z.unknown(),
    inner: z.object({ deep: z.array(z.union([z.number().int(), z.string()])) }),
    counts: z.record(z.number()),
  });
  const good = {
    id: 1,
    ratio: 0.5,
    name: 'ab',
    note: null,
    state: 'on',
    kind: 'x',
    any: { free: [1] },
    inner: { deep: [1, 'a'], hidden: true },
    counts: { a: 1 },
    secret: 'must not leave',
  };

  it('drops what is not declared, at every depth, and keeps what is', () => {
    expect(compileSerializer(schema)(good)).toStrictEqual({
      id: 1,
      ratio: 0.5,
      name: 'ab',
      note: null,
      state: 'on',
      kind: 'x',
      any: { free: [1] },
      inner: { deep: [1, 'a'] },
      counts: { a: 1 },
    });
    agree(schema, good);
  });

  it.each([
    ['a fraction for an integer', { ...good, id: 1.5 }],
    ['NaN', { ...good, ratio: Number.NaN }],
    ['an infinite integer', { ...good, id: Number.POSITIVE_INFINITY }],
    ['a text that is too short', { ...good, name: 'a' }],
    ['a missing member', { ...good, note: undefined }],
    ['a word outside the list', { ...good, state: 'maybe' }],
    ['another literal', { ...good, kind: 'y' }],
    ['a wrong item deep inside', { ...good, inner: { deep: [true] } }],
    ['a list for an object', { ...good, inner: [] }],
    ['a Map for an object', { ...good, inner: new Map() }],
    ['nothing', null],
    ['text', 'good'],
  ])('refuses %s, as zod does', (_what, value) => {
    expect(compileSerializer(schema)(value)).toBeUndefined();
    agree(schema, value);
  });

  it('keeps an optional member that is there and undefined, and no other', () => {
    agree(schema, { ...good, extra: undefined });
    agree(schema, { ...good, extra: 'here' });
  });

  it('leaves strict and open objects to zod', () => {
    agree(z.object({ a: z.string() }).strict(), { a: '', b: 1 });
    agree(z.object({ a: z.string() }).passthrough(), { a: '', b: 1 });
    agree(z.object({ a: z.string() }).catchall(z.number()), { a: '', b: 1 });
  });
});
