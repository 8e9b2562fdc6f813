/** Members of a parameter under dotted names, as the routes document writes them: `secrets.api_key` (REST §6.10.6). */

import { z } from '../../../schemas/zod.js';
import { definitionOf } from '../../../schemas/zod-internals.js';
import { isObject } from '../../runtime/plain-json.js';
import { invalidParam } from './parameter-errors.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields with `secrets.api_key` moved to the member `api_key` of `secrets`, for parameters of the schema that are
 * objects. Other dotted names stay and are refused as unknown. Throws `rest_invalid_param` for a member sent both ways.
 */
export function nested(schema: z.AnyZodObject, fields: Fields): Fields {
  const dotted = new Set(Object.keys(fields).filter((name) => isMember(schema, name)));
  if (dotted.size === 0) return fields;
  const out = new Map(Object.entries(fields).filter(([name]) => !dotted.has(name)));
  const objects = new Map<string, Map<string, unknown>>();
  for (const name of dotted) {
    const [head, member] = split(name);
    const own = out.get(head) ?? {};
    if (!isObject(own)) throw invalidParam(name, `cannot be sent beside ${head}, which is not an object`);
    const members = objects.get(head) ?? new Map(Object.entries(own));
    objects.set(head, members);
    if (members.has(member)) throw invalidParam(name, `is given more than once: in ${head}, too`);
    members.set(member, fields[name]);
  }
  for (const [head, members] of objects) out.set(head, Object.fromEntries(members));
  return Object.fromEntries(out);
}

function isMember(schema: z.AnyZodObject, name: string): boolean {
  const [head, member] = split(name);
  const shape = schema.shape as Record<string, z.ZodTypeAny>;
  if (member === '' || Object.hasOwn(shape, name) || !Object.hasOwn(shape, head)) return false;
  return isObjectSchema(shape[head]);
}

function split(name: string): [head: string, member: string] {
  const at = name.indexOf('.');
  return at <= 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)];
}

function isObjectSchema(schema: z.ZodTypeAny | undefined): boolean {
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return true;
  if (schema instanceof z.ZodEffects) return isObjectSchema(schema.innerType());
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return isObjectSchema(schema.unwrap());
  if (schema instanceof z.ZodDefault) return isObjectSchema(schema.removeDefault());
  return schema instanceof z.ZodPipeline && isObjectSchema(definitionOf(schema).in as z.ZodTypeAny);
}
