/**
 * Parses objects of parameters by their schema, looking only at the given members: the result for an absent one is
 * known beforehand. The same outcome as `safeParse` of the whole, which spends most of its time on members that were
 * not sent.
 */

import type { z } from '../../../schemas/zod.js';
import { definitionOf, hasCatchall } from '../../../schemas/zod-internals.js';

type Parsed = Record<string, unknown>;

interface Member {
  name: string;
  schema: z.ZodTypeAny;
  /** The value if absent, where it is known beforehand: a plain value, or a new empty list. */
  absent: (() => unknown) | undefined;
}

/** Returns a function that returns the parsed object, or undefined if it does not match (`safeParse` then says why). */
export function compileInputParser(schema: z.AnyZodObject): (value: unknown) => Parsed | undefined {
  const definition = definitionOf(schema);
  const { unknownKeys } = definition;
  const shape = schema.shape as Record<string, z.ZodTypeAny>;
  const isStrict = unknownKeys === 'strict';
  const isPlain = (isStrict || unknownKeys === 'strip') && !hasCatchall(definition);
  if (!isPlain || Object.hasOwn(shape, '__proto__')) return () => undefined;
  const members = Object.entries(shape).map(([name, member]) => ({ name, schema: member, absent: absentOf(member) }));
  const names = new Set(Object.keys(shape));

  return (value) => {
    if (!isObject(value)) return undefined;
    if (isStrict) for (const name in value) if (!names.has(name)) return undefined;
    return parsedMembers(members, value);
  };
}

/** Members that may be absent but not null, by schema. */
const optionalMembers = new WeakMap<z.AnyZodObject, ReadonlySet<string>>();

/**
 * The value without members that are null and could be absent: many model APIs send null for every omitted input
 * (operations §1.5). Where null has a meaning, and where a value is required, it stays.
 */
export function withoutNulls(schema: z.AnyZodObject, value: unknown): unknown {
  if (!isObject(value)) return value;
  let optional = optionalMembers.get(schema);
  if (optional === undefined) {
    const members = Object.entries(schema.shape as Record<string, z.ZodTypeAny>);
    optional = new Set(
      members
        .filter(([, member]) => member.safeParse(undefined).success && !member.safeParse(null).success)
        .map(([name]) => name),
    );
    optionalMembers.set(schema, optional);
  }
  const nulls = Object.keys(value).filter((name) => value[name] === null && optional.has(name));
  if (nulls.length === 0) return value;
  const kept = { ...value };
  for (const name of nulls) delete kept[name];
  return kept;
}

function parsedMembers(members: readonly Member[], value: Parsed): Parsed | undefined {
  const parsed: Parsed = {};
  for (const { name, schema, absent } of members) {
    const given = value[name];
    let result: unknown;
    if (given === undefined && absent !== undefined) {
      result = absent();
    } else {
      const outcome = schema.safeParse(given);
      if (!outcome.success) return undefined;
      result = outcome.data;
    }
    if (result !== undefined || name in value) parsed[name] = result;
  }
  return parsed;
}

/** Other lists and objects are left to the schema: their receiver may change them. */
function absentOf(schema: z.ZodTypeAny): (() => unknown) | undefined {
  const outcome = schema.safeParse(undefined);
  if (!outcome.success) return undefined;
  const value: unknown = outcome.data;
  if (Array.isArray(value) && value.length === 0) return () => [];
  return typeof value === 'object' && value !== null ? undefined : () => value;
}

/** What zod accepts as an object: no Map, no Date, no promise. */
function isObject(value: unknown): value is Parsed {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}
