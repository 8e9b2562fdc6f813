/**
 * The only place that reads zod's definitions (`_def`) and overrides `_parse`, which zod does not document: the
 * definitions for the compiled parsers in `src/operation/validation`, and two schemas that extend zod's classes.
 * `test/validation` compares all of them with zod itself.
 */

import { z } from './zod.js';

/** The members read from a definition. Those that a kind of schema does not have are absent. */
export interface Definition {
  typeName: string;
  checks?: { kind: string }[];
  values?: readonly unknown[];
  value?: unknown;
  /** Of an optional, nullable or defaulted schema. */
  innerType?: z.ZodTypeAny;
  /** Of an array's members. */
  type?: z.ZodTypeAny;
  /** Of a union. */
  options?: readonly z.ZodTypeAny[];
  /** The side of a pipeline that is parsed first. */
  in?: z.ZodTypeAny;
  unknownKeys?: string;
  catchall?: z.ZodTypeAny;
  shape?: () => Record<string, z.ZodTypeAny>;
  minLength?: unknown;
  maxLength?: unknown;
  exactLength?: unknown;
}

export function definitionOf(schema: z.ZodTypeAny): Definition {
  return schema._def as Definition;
}

/** Whether an object keeps or validates unknown members: those schemas are left to zod. */
export function hasCatchall({ catchall }: Definition): boolean {
  return catchall !== undefined && definitionOf(catchall).typeName !== 'ZodNever';
}

/**
 * Maximum issues reported per list. Zod creates an error object for each, which takes longer than the rest of a call.
 */
export const MAX_ISSUES = 20;

/**
 * The same array, except that its length is checked before its members, and that parsing ends at the 20th invalid
 * member: in zod's own order, 300,000 invalid members take minutes before their number is checked.
 */
export function bounded<T extends z.ZodTypeAny>(array: z.ZodArray<T>): z.ZodArray<T> {
  return new BoundedArray<T>(array._def);
}

class BoundedArray<T extends z.ZodTypeAny> extends z.ZodArray<T> {
  override _parse(input: z.ParseInput): z.ParseReturnType<T['_output'][]> {
    const { data } = input;
    const { minLength, maxLength, exactLength, type: member } = this._def;
    // Left to zod: other types, and lower limits, which are rarely used.
    if (!Array.isArray(data) || exactLength !== null || data.length < (minLength?.value ?? 0)) {
      return super._parse(input);
    }
    const { ctx, status } = this._processInputParams(input);
    if (maxLength !== null && data.length > maxLength.value) {
      z.addIssueToContext(ctx, {
        code: 'too_big',
        maximum: maxLength.value,
        type: 'array',
        inclusive: true,
        exact: false,
        message: maxLength.message,
      });
      return z.INVALID;
    }
    if (member instanceof z.ZodUnknown) return z.OK([...(data as unknown[])]);
    const parsed: T['_output'][] = [];
    let failed = 0;
    for (const [index, value] of (data as unknown[]).entries()) {
      const result = member._parseSync({ data: value, path: [...ctx.path, index], parent: ctx });
      if (result.status === 'valid') {
        parsed.push(result.value);
        continue;
      }
      if (result.status === 'aborted') status.abort();
      else status.dirty();
      parsed.push(result.status === 'dirty' ? result.value : undefined);
      failed += 1;
      if (failed === MAX_ISSUES) return z.INVALID;
    }
    return status.value === 'aborted' ? z.INVALID : { status: status.value, value: parsed };
  }
}

/** An integer or a text of any length; an unknown one is simply not found. */
export function integerOrText(): z.ZodUnion<[z.ZodNumber, z.ZodString]> {
  return new IntegerOrText(z.union([z.number().int(), z.string()])._def);
}

/** Chooses the alternative by type: a zod union creates an error for each alternative, 5,000 times for a long list. */
class IntegerOrText extends z.ZodUnion<[z.ZodNumber, z.ZodString]> {
  override _parse(input: z.ParseInput): z.ParseReturnType<number | string> {
    const [number, text] = this._def.options;
    if (typeof input.data === 'string') return text._parse(input);
    return typeof input.data === 'number' ? number._parse(input) : super._parse(input);
  }
}
