/** The fields of settings: how they are declared, and the kinds of values they accept. */

import { once } from '../src/runtime/once.js';
import { called, numberAs } from './common.js';
import { listMembers } from './lists.js';
import { z } from './zod.js';
import { bounded } from './zod-internals.js';

/** What a default value may depend on. */
export interface Surroundings {
  concurrency: number;
  per_host: number;
  batch_threshold: number;
}

export interface Field<T> {
  schema: () => z.ZodType<T, z.ZodTypeDef, unknown>;
  standard: (surroundings: Surroundings) => T;
  about: string;
  /** Why the value has no effect in this service; returned with every answer. */
  idle?: string;
  /** Each user has their own value. */
  personal?: true;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type ValuesOf<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export function field<T>(
  schema: () => z.ZodType<T, z.ZodTypeDef, unknown>,
  standard: T | ((surroundings: Surroundings) => T),
  about: string,
  more: { idle?: string; personal?: true } = {},
): Field<T> {
  return {
    schema: once(schema),
    standard: typeof standard === 'function' ? (standard as (surroundings: Surroundings) => T) : () => standard,
    about,
    ...more,
  };
}

type Switch = 0 | 1;
const ON: ReadonlySet<unknown> = new Set([true, 1, '1', 'true', 'yes', 'on']);
const OFF: ReadonlySet<unknown> = new Set([false, 0, '0', 'false', 'no', 'off']);

/** `on` or `off` for a spelling of one of them, in any case; any other value as it is. */
export function switched<T>(value: unknown, on: T, off: T): unknown {
  const plain = typeof value === 'string' ? value.trim().toLowerCase() : value;
  return ON.has(plain) ? on : OFF.has(plain) ? off : value;
}

/** 1 or 0; also accepts true/false and yes/no. */
export const onOff = once(
  (): z.ZodType<Switch, z.ZodTypeDef, unknown> =>
    z.preprocess((value) => switched(value, 1, 0), z.union([z.literal(0), z.literal(1)])),
);

export function whole(min: number, max: number): z.ZodType<number, z.ZodTypeDef, unknown> {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim()) ? Number(value) : value),
    numberAs('must be an integer').int().min(min).max(max),
  );
}

/** One of several whole numbers. */
export function among<N extends number>(...values: readonly [N, N, ...N[]]): z.ZodType<N, z.ZodTypeDef, unknown> {
  const [first, second, ...more] = values.map((value) => z.literal(value));
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value),
    z.union([first as z.ZodLiteral<N>, second as z.ZodLiteral<N>, ...(more as z.ZodLiteral<N>[])]),
  ) as z.ZodType<N, z.ZodTypeDef, unknown>;
}

export function map<K extends string>(
  keys: readonly [K, ...K[]],
): z.ZodType<Partial<Record<K, Switch>>, z.ZodTypeDef, unknown> {
  return z.object(Object.fromEntries(keys.map((key) => [key, onOff().optional()]))).strict() as unknown as z.ZodType<
    Partial<Record<K, Switch>>,
    z.ZodTypeDef,
    unknown
  >;
}

/** Most members of a list of slugs. */
const MAX_SLUGS = 1000;

/** Slugs as a list, or comma-separated. */
export const slugs = once(
  (): z.ZodType<string[], z.ZodTypeDef, unknown> =>
    z.preprocess(listMembers, bounded(z.array(called()).max(MAX_SLUGS))),
);

export const line = (max: number) => z.string().trim().max(max);
export const clock = once(() =>
  line(5).regex(/^(?:$|(?:[01]?\d|2[0-3]):[0-5]\d$)/, 'must be a time from 00:00 to 23:59'),
);
