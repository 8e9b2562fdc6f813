/**
 * Checks responses and strips them to what their schema declares, with closures compiled once per schema. The same
 * outcome as `safeParse`, which takes a fifth of the whole time of a list; schema features not supported here are left
 * to it.
 */

import type { z } from '../../../schemas/zod.js';
import { type Definition, definitionOf, hasCatchall } from '../../../schemas/zod-internals.js';

/** The value does not match. */
const NO = Symbol('does not match');

type Check = (value: unknown) => unknown;

/**
 * Returns a function that returns the stripped value, or undefined if the value does not match (`safeParse` then says
 * why).
 */
export function compileSerializer(schema: z.AnyZodObject): (value: unknown) => Record<string, unknown> | undefined {
  const check = compile(schema);
  return (value) => {
    const stripped = check(value);
    return stripped === NO ? undefined : (stripped as Record<string, unknown>);
  };
}

function compile(schema: z.ZodTypeAny): Check {
  const definition = definitionOf(schema);
  const { innerType } = definition;
  switch (definition.typeName) {
    case 'ZodString':
      return definition.checks?.length ? parsing(schema) : (value) => (typeof value === 'string' ? value : NO);
    case 'ZodNumber':
      return numberCheck(schema, definition);
    case 'ZodBoolean':
      return (value) => (typeof value === 'boolean' ? value : NO);
    case 'ZodLiteral':
      return (value) => (value === definition.value ? value : NO);
    case 'ZodEnum': {
      const values = new Set(definition.values);
      return (value) => (values.has(value) ? value : NO);
    }
    case 'ZodUnknown':
    case 'ZodAny':
      return (value) => value;
    case 'ZodNullable':
      return innerType === undefined ? parsing(schema) : unless(null, compile(innerType));
    case 'ZodOptional':
      return innerType === undefined ? parsing(schema) : unless(undefined, compile(innerType));
    case 'ZodUnion':
      return firstOf((definition.options ?? []).map(compile));
    case 'ZodArray':
      return arrayCheck(schema, definition);
    case 'ZodObject':
      return objectCheck(schema, definition);
    default:
      return parsing(schema);
  }
}

/** A part of the schema that is left to zod. */
function parsing(schema: z.ZodTypeAny): Check {
  return (value) => {
    const result = schema.safeParse(value);
    return result.success ? result.data : NO;
  };
}

function numberCheck(schema: z.ZodTypeAny, { checks = [] }: Definition): Check {
  if (checks.some(({ kind }) => kind !== 'int')) return parsing(schema);
  if (checks.length > 0) return (value) => (Number.isInteger(value) ? value : NO);
  return (value) => (typeof value === 'number' && !Number.isNaN(value) ? value : NO);
}

function unless(exempt: null | undefined, check: Check): Check {
  return (value) => (value === exempt ? value : check(value));
}

function firstOf(checks: readonly Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const result = check(value);
      if (result !== NO) return result;
    }
    return NO;
  };
}

function arrayCheck(schema: z.ZodTypeAny, definition: Definition): Check {
  const { type, minLength, maxLength, exactLength } = definition;
  if (type === undefined || minLength || maxLength || exactLength) return parsing(schema);
  const check = compile(type);
  return (value) => {
    if (!Array.isArray(value)) return NO;
    const stripped: unknown[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) {
      const item = check(value[i]);
      if (item === NO) return NO;
      stripped[i] = item;
    }
    return stripped;
  };
}

function objectCheck(schema: z.ZodTypeAny, definition: Definition): Check {
  const shape = definition.shape?.() ?? {};
  const keeps = definition.unknownKeys !== 'strip' || hasCatchall(definition);
  if (keeps || Object.hasOwn(shape, '__proto__')) return parsing(schema);
  const members = Object.entries(shape).map(([name, member]) => ({ name, check: compile(member) }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return NO;
    // Zod does not accept a Map, a Date or a promise as a plain object either.
    const prototype = Object.getPrototypeOf(value) as unknown;
    if (prototype !== Object.prototype && prototype !== null) return parsing(schema)(value);
    const given = value as Record<string, unknown>;
    const stripped: Record<string, unknown> = {};
    for (const { name, check } of members) {
      const member = given[name];
      const result = check(member);
      if (result === NO) return NO;
      if (result !== undefined || name in given) stripped[name] = result;
    }
    return stripped;
  };
}
