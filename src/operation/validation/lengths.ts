/**
 * Checks lengths of texts before anything else: zod applies all checks, patterns and refinements even to a text that is
 * too long, and a pattern may take quadratic time.
 */

import { z } from '../../../schemas/zod.js';
import { definitionOf, MAX_ISSUES } from '../../../schemas/zod-internals.js';

/** Allowance for blanks that a schema trims before it counts. */
const ROOM = 1000;

/** The positions of texts with limited length in a value. Members that are not mentioned are not limited. */
interface Bound {
  /** Maximum characters; infinite if any text is accepted. */
  text?: number;
  member?: Bound;
  members?: Readonly<Record<string, Bound>>;
}

const bounds = new WeakMap<z.ZodTypeAny, Bound>();

/** Errors about texts in `value` that are certainly too long for the schema; empty for nearly every value. */
export function tooLong(schema: z.ZodTypeAny, value: unknown): z.ZodIssue[] {
  let bound = bounds.get(schema);
  if (bound === undefined) {
    bound = boundOf(schema) ?? {};
    bounds.set(schema, bound);
  }
  const found: z.ZodIssue[] = [];
  findLong(value, bound, [], found);
  return found;
}

/** Longer lists are refused by their length. */
const LONGEST_LIST = 10_000;

type Path = (string | number)[];

function findLong(value: unknown, { text, member, members }: Bound, path: Path, found: z.ZodIssue[]): void {
  if (typeof value === 'string') {
    if (text !== undefined && value.length > text + ROOM) found.push(issue(text, path));
  } else if (Array.isArray(value)) {
    if (member === undefined || value.length > LONGEST_LIST) return;
    for (let i = 0; i < value.length && found.length < MAX_ISSUES; i++) {
      path.push(i);
      findLong(value[i], member, path, found);
      path.pop();
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      const bound = member ?? (members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined);
      if (bound === undefined) continue;
      path.push(name);
      findLong((value as Record<string, unknown>)[name], bound, path, found);
      path.pop();
      if (found.length >= MAX_ISSUES) return;
    }
  }
}

function issue(maximum: number, path: Path): z.ZodIssue {
  const message = `must contain at most ${maximum} characters`;
  return { code: 'too_big', type: 'string', maximum, inclusive: true, path: [...path], message };
}

function boundOf(schema: z.ZodTypeAny): Bound | undefined {
  if (schema instanceof z.ZodString) return { text: schema.maxLength ?? Number.POSITIVE_INFINITY };
  if (schema instanceof z.ZodEffects) return boundOf(schema.innerType());
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return boundOf(schema.unwrap());
  if (schema instanceof z.ZodDefault) return boundOf(schema.removeDefault());
  if (schema instanceof z.ZodPipeline) return boundOf(definitionOf(schema).in as z.ZodTypeAny);
  if (schema instanceof z.ZodUnion) return anyOf(schema.options as z.ZodTypeAny[]);
  if (schema instanceof z.ZodArray) return within(boundOf(schema.element));
  if (schema instanceof z.ZodRecord) return within(boundOf(schema.element));
  if (schema instanceof z.ZodObject) return { members: membersOf(schema.shape as z.ZodRawShape) };
  return schema instanceof z.ZodUnknown ? { text: Number.POSITIVE_INFINITY } : undefined;
}

/** A list may be written as one text. */
function within(member: Bound | undefined): Bound {
  return { text: Number.POSITIVE_INFINITY, ...(member === undefined ? {} : { member }) };
}

function membersOf(shape: z.ZodRawShape): Record<string, Bound> {
  const known = Object.entries(shape).map(([name, member]) => [name, boundOf(member)] as const);
  return Object.fromEntries(known.filter((entry): entry is readonly [string, Bound] => entry[1] !== undefined));
}

/**
 * A value that fits one alternative fits the union: the longest limit applies, and lists and objects are limited only
 * if a single alternative has them.
 */
function anyOf(options: readonly z.ZodTypeAny[]): Bound | undefined {
  const known = options.map(boundOf).filter((bound) => bound !== undefined);
  const texts = known.flatMap(({ text }) => (text === undefined ? [] : [text]));
  return texts.length === 0 ? undefined : { text: Math.max(...texts) };
}
