/** Reads JSON Schemas part by part. */

import type { JsonSchema } from '../../src/operation/contract.js';

/** Every schema inside a schema, with its path. */
export function* walk(schema: JsonSchema, path: string): Generator<{ path: string; schema: JsonSchema }> {
  yield { path, schema };
  for (const [name, value] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>))
    yield* walk(value, `${path}.${name}`);
  if (schema.items !== undefined) yield* walk(schema.items as JsonSchema, `${path}[]`);
  for (const branch of (schema.anyOf ?? []) as JsonSchema[]) yield* walk(branch, path);
}
