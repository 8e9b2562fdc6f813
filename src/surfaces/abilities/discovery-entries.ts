/** Discovery entries: the operations and categories that clients read before a run (operations §2). */

import type { JsonSchema } from '../../operation/contract.js';
import { contractOf } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { closestNames } from '../../runtime/closest-names.js';
import { ServiceError } from '../../runtime/errors.js';
import { TOOLSET_FACTS, TOOLSETS, type Toolset } from '../../runtime/toolsets.js';

export type View = 'view' | 'edit' | 'embed';

/** Slug of a group as a category. */
function categorySlug(group: Toolset): string {
  return `svc-${group}`;
}

/** All operations as discovery shows them, in the order of their groups. */
export function operationEntries(operations: readonly GroupedOperation[]) {
  const sorted = [...operations].sort((a, b) => TOOLSETS.indexOf(a.group) - TOOLSETS.indexOf(b.group));
  return sorted.map((operation) => {
    const contract = contractOf(operation);
    const { instructions, readonly, destructive, idempotent } = contract.annotations;
    return {
      name: contract.id,
      label: contract.title,
      description: contract.description,
      category: categorySlug(operation.group),
      input_schema: inputSchema(contract.input_schema),
      output_schema: contract.output_schema,
      meta: {
        annotations: { instructions, readonly, destructive, idempotent },
        show_in_rest: true,
        public: false,
        deprecated: false,
      },
    };
  });
}

/** All categories as discovery shows them: one per group. */
export function categoryEntries() {
  return TOOLSETS.map((group) => {
    const { label, description } = TOOLSET_FACTS[group];
    return { slug: categorySlug(group), label, description, meta: {} };
  });
}

type OperationEntry = ReturnType<typeof operationEntries>[number];
type CategoryEntry = ReturnType<typeof categoryEntries>[number];

/** Adds `null` to the schema of an operation whose fields are all optional: it may be run without input. */
function inputSchema(schema: JsonSchema): JsonSchema {
  const required = Array.isArray(schema.required) && schema.required.length > 0;
  return required ? schema : { ...schema, type: ['object', 'null'] };
}

export interface Filters {
  category: string | undefined;
  namespace: string | undefined;
  readonly: boolean | undefined;
  destructive: boolean | undefined;
  idempotent: boolean | undefined;
}

/** Whether an entry passes all filters. */
export function matches(entry: OperationEntry, filters: Filters): boolean {
  const { annotations } = entry.meta;
  return (
    (filters.category === undefined || entry.category === filters.category) &&
    (filters.namespace === undefined || entry.name.startsWith(`${filters.namespace}/`)) &&
    (['readonly', 'destructive', 'idempotent'] as const).every(
      (name) => filters[name] === undefined || filters[name] === annotations[name],
    )
  );
}

type Links = Record<string, { href: string }[]>;

/** An operation with its links, reduced to the context and the requested fields. `root` is the URL of `…/abilities`. */
export function showOperation(entry: OperationEntry, root: string, view: View, fields: Fields): object {
  const self = `${root}/${entry.name}`;
  const links: Links = {
    self: [{ href: self }],
    collection: [{ href: root }],
    'wp:action-run': [{ href: `${self}/run` }],
  };
  const { name, label, category } = entry;
  return pick({ ...(view === 'embed' ? { name, label, category } : entry), _links: links }, fields);
}

/** A category with its links. `mount` is the URL above `…/categories`. */
export function showCategory(entry: CategoryEntry, mount: string, fields: Fields): object {
  const collection = `${mount}/categories`;
  const links: Links = {
    self: [{ href: `${collection}/${entry.slug}` }],
    collection: [{ href: collection }],
    abilities: [{ href: `${mount}/abilities?category=${entry.slug}` }],
  };
  return pick({ ...entry, _links: links }, fields);
}

/** @param ids of all operations, to suggest similar names */
export function operationNotFound(name: string, ids: Iterable<string>): ServiceError {
  const close = closestNames(name, [...ids]);
  const meant =
    close.length === 0
      ? 'Names are case-sensitive, for example svc/list-sites-v1.'
      : `Did you mean ${close.join(' or ')}?`;
  return new ServiceError('rest_ability_not_found', `There is no operation ${JSON.stringify(name.slice(0, 100))}.`, {
    advice: `${meant} GET /wp-json/wp-abilities/v1/abilities lists them.`,
  });
}

export function categoryNotFound(slug: string): ServiceError {
  return new ServiceError(
    'rest_ability_category_not_found',
    `There is no category ${JSON.stringify(slug.slice(0, 100))}.`,
    {
      advice: `Categories are ${TOOLSETS.map(categorySlug).join(', ')}.`,
    },
  );
}

/** Field paths from `_fields`, such as `name` or `meta.annotations`; undefined for everything. */
export type Fields = readonly (readonly string[])[] | undefined;

/** The members that the field paths name, in the order of the entry. */
function pick(value: Record<string, unknown>, fields: Fields): Record<string, unknown> {
  if (fields === undefined) return value;
  const picked: Record<string, unknown> = {};
  const byName = new Map<string, string[][]>();
  for (const [name = '', ...below] of fields) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [below]);
    else known.push(below);
  }
  for (const [name, member] of Object.entries(value)) {
    const below = byName.get(name);
    if (below === undefined) continue;
    const whole = below.some((path) => path.length === 0) || typeof member !== 'object' || member === null;
    picked[name] = whole ? member : pick(member as Record<string, unknown>, below);
  }
  return picked;
}
