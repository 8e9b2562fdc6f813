/**
 * Finds parts of a JSON Schema that no recorded answer used: members that were never present, lists that were never
 * empty or always empty, null that never occurred, alternatives never chosen. A description of these may be wrong.
 */

// biome-ignore lint/suspicious/noExplicitAny: schemas and answers are walked member by member
type Json = any;

interface Pooled {
  schema: Json;
  /** Where it was first found. */
  at: string;
  values: Json[];
}

/**
 * Objects with the same schema are pooled, wherever they occur. `see` records answers, `gaps` lists the unused parts.
 */
export function schemaCoverage(resolve: (ref: string) => Json) {
  const pool = new Map<string, Pooled>();

  function see(given: Json, values: readonly Json[], at: string): void {
    const schema = resolved(given);
    if (Array.isArray(schema.anyOf)) {
      for (const [i, own] of chosen(schema.anyOf, values).entries()) see(schema.anyOf[i], own, `${at}|${i}`);
      return;
    }
    const lists = values.filter(Array.isArray);
    if (schema.items !== undefined && schema.maxItems !== 0) see(schema.items, lists.flat(), `${at}[]`);
    if (schema.properties === undefined && typeof schema.additionalProperties !== 'object') return;
    const objects = values.filter((value) => typeOf(value) === 'object');
    const key = JSON.stringify(schema);
    const known = pool.get(key) ?? { schema, at, values: [] };
    pool.set(key, known);
    known.values.push(...objects);
    for (const [name, member] of Object.entries(schema.properties ?? {}))
      see(
        member,
        objects.flatMap((object) => (name in object ? [object[name]] : [])),
        `${at}.${name}`,
      );
    if (schema.properties === undefined) see(schema.additionalProperties, objects.flatMap(Object.values), `${at}{}`);
  }

  function gaps(): string[] {
    return [...pool.values()].flatMap(({ schema, at, values }) => {
      if (values.length === 0) return [`${at} never came`];
      if (schema.properties !== undefined) return members(schema, values, at);
      return values.some((value) => Object.keys(value).length === 0) ? [] : [`${at} was never empty`];
    });
  }

  function members(schema: Json, values: readonly Json[], at: string): string[] {
    return Object.entries(schema.properties).flatMap(([name, member]) => {
      const having = values.filter((value) => name in value);
      if (having.length === 0) return [`${at}.${name} never came`];
      const optional = !(schema.required ?? []).includes(name);
      return [
        ...(optional && having.length === values.length ? [`${at}.${name} always came`] : []),
        ...local(
          member,
          having.map((value) => value[name]),
          `${at}.${name}`,
        ),
      ];
    });
  }

  /** Gaps of one member, down to the next object. */
  function local(given: Json, values: readonly Json[], at: string): string[] {
    const schema = resolved(given);
    if (values.length === 0) return [`${at} never came`];
    if (Array.isArray(schema.anyOf))
      return chosen(schema.anyOf, values).flatMap((own, i) => local(schema.anyOf[i], own, `${at}|${i}`));
    const nullable = Array.isArray(schema.type) && schema.type.includes('null');
    const known = values.filter((value) => value !== null);
    if (nullable && known.length === values.length) return [`${at} was never null`];
    if (nullable && known.length === 0) return [`${at} was always null`];
    if (schema.items === undefined || schema.maxItems === 0) return [];
    const emptied = known.some((value) => value.length === 0) || (schema.minItems ?? 0) > 0;
    return [...(emptied ? [] : [`${at}[] was never empty`]), ...local(schema.items, known.flat(), `${at}[]`)];
  }

  function chosen(schemas: readonly Json[], values: readonly Json[]): Json[][] {
    const own = schemas.map((): Json[] => []);
    for (const value of values) own[schemas.findIndex((schema) => fits(schema, value))]?.push(value);
    return own;
  }

  function resolved(schema: Json): Json {
    return schema.$ref === undefined ? schema : resolve(schema.$ref);
  }

  /** Distinguishes alternatives; the validator checks whether the value is valid. */
  function fits(given: Json, value: Json): boolean {
    const schema = resolved(given);
    if ('const' in schema) return value === schema.const;
    if (Array.isArray(schema.anyOf)) return schema.anyOf.some((one: Json) => fits(one, value));
    if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return false;
    const types: string[] = Array.isArray(schema.type) ? schema.type : [schema.type];
    const type = typeOf(value);
    if (!types.includes(type) && !(type === 'integer' && types.includes('number'))) return false;
    if (type !== 'object' || schema.properties === undefined) return true;
    return (
      (schema.required ?? []).every((name: string) => name in value) &&
      Object.entries(value).every(([name, member]) => {
        const own = schema.properties[name];
        return own === undefined ? schema.additionalProperties !== false : fits(own, member);
      })
    );
  }

  return { see, gaps };
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
