/** Arrays whose length is judged before their members, and whose bad members are counted no further than an answer tells. */

import { z } from './zod.js';

/** Findings about one list at most. Zod makes an error object for each, which takes longer than all else about a call. */
export const MAX_ISSUES = 20;

/** The array, judged in that order: 300,000 bad members would otherwise take minutes before their number is looked at. */
export function bounded<T extends z.ZodTypeAny>(array: z.ZodArray<T>): z.ZodArray<T> {
  return new BoundedArray<T>(array._def);
}

class BoundedArray<T extends z.ZodTypeAny> extends z.ZodArray<T> {
  override _parse(input: z.ParseInput): z.ParseReturnType<T['_output'][]> {
    const { data } = input;
    const { maxLength, type: member } = this._def;
    // Of another type, or with limits of their own that are seldom reached: these are for zod to tell.
    if (!Array.isArray(data) || data.length < (this._def.minLength?.value ?? 0)) return super._parse(input);
    const { ctx, status } = this._processInputParams(input);
    if (maxLength !== null && data.length > maxLength.value) {
      z.addIssueToContext(ctx, {
        code: 'too_big',
        maximum: maxLength.value,
        type: 'array',
        inclusive: true,
        message: maxLength.message,
      });
      return z.INVALID;
    }
    if (member instanceof z.ZodUnknown) return z.OK([...(data as unknown[])]);
    const parsed: T['_output'][] = [];
    let wrong = 0;
    for (const [index, value] of (data as unknown[]).entries()) {
      const result = member._parseSync({ data: value, path: [...ctx.path, index], parent: ctx });
      if (result.status === 'valid') {
        parsed.push(result.value);
        continue;
      }
      if (result.status === 'aborted') status.abort();
      else status.dirty();
      parsed.push(result.status === 'dirty' ? result.value : undefined);
      wrong += 1;
      if (wrong === MAX_ISSUES) return z.INVALID;
    }
    return status.value === 'aborted' ? z.INVALID : { status: status.value, value: parsed };
  }
}

/** Parts of one comma text at most; more are not taken apart. */
const MAX_PARTS = 5000;

/**
 * What a list may be written as, for a preprocess: comma text, one number, or an array. Answers the members trimmed, without
 * empties and repeats; more of them than any list takes are left as they are, for the array to refuse by their number.
 */
export function listMembers(value: unknown): unknown {
  const parts =
    typeof value === 'string' ? value.split(',', MAX_PARTS + 1) : typeof value === 'number' ? [value] : value;
  if (!Array.isArray(parts) || parts.length > MAX_PARTS) return parts;
  const trimmed = parts.map((part: unknown) => (typeof part === 'string' ? part.trim() : part));
  return [...new Set(trimmed.filter((part) => part !== ''))];
}
