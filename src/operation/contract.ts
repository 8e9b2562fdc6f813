/** The published contract of an operation: JSON Schemas and annotations. The only importer of zod-to-json-schema. */

import { zodToJsonSchema } from 'zod-to-json-schema';
import type { z } from '../../schemas/zod.js';
import type { Operation } from './operation.js';

export type JsonSchema = { [key: string]: unknown };

export interface Contract {
  id: string;
  /** Name as an MCP tool: clients accept only `[a-zA-Z0-9_-]`. */
  tool: string;
  title: string;
  description: string;
  run: { methods: readonly string[] };
  annotations: { readonly: boolean; destructive: boolean; idempotent: boolean; instructions: string };
  input_schema: JsonSchema;
  output_schema: JsonSchema;
}

const cache = new WeakMap<Operation, Contract>();

/** The contract of an operation, cached because converting the schemas is expensive. */
export function contractOf(operation: Operation): Contract {
  const known = cache.get(operation);
  if (known !== undefined) return known;
  const contract: Contract = {
    id: operation.id,
    tool: toolName(operation.id),
    title: operation.title,
    description: operation.about,
    run: { methods: operation.methods },
    annotations: {
      readonly: operation.effect === 'read',
      destructive: operation.replaces,
      idempotent: operation.idempotent,
      instructions: operation.instructions,
    },
    input_schema: jsonSchema(operation.input()),
    output_schema: jsonSchema(operation.output()),
  };
  cache.set(operation, contract);
  return contract;
}

/** `svc/list-sites-v1` → `svc-list-sites-v1`. */
export function toolName(id: string): string {
  return id.replaceAll('/', '-');
}

/** A zod schema as JSON Schema, inlined and without `$schema`. Throws on an empty result, which is how the converter fails. */
export function jsonSchema(schema: z.ZodTypeAny): JsonSchema {
  const { $schema: _dialect, ...converted } = zodToJsonSchema(schema, {
    $refStrategy: 'none',
    target: 'jsonSchema7',
  }) as JsonSchema;
  if (Object.keys(converted).length === 0)
    throw new Error('zod-to-json-schema answered an empty schema: was it given a zod 4 schema?');
  return converted;
}
