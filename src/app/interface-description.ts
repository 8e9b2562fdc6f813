/**
 * A single description of everything callable over HTTP, for the reference at `/docs`, in OpenAPI 3.0: its viewer takes ten times
 * as long for 3.1.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GroupedOperation } from '../operation/operation.js';
import { VERSION } from '../runtime/version.js';
import { describeRuns } from '../surfaces/abilities/openapi.js';
import { routes } from '../surfaces/rest/index.js';
import { openApi } from '../surfaces/rest/openapi.js';

const introduction = (rows: string) => `**Rows below /v2** are for scripts and take an API key. \
**Operations**, listed after them, are what assistants call as MCP tools; over HTTP they take the user name and password of a login, and \`{"input": {…}}\`.

${rows}`;

/** Yields after each path to let other requests run. @param operations that this copy serves */
export async function describeInterface(operations: readonly GroupedOperation[]): Promise<object> {
  const { webhooks: _not30, paths: rows, components, ...rest } = await openApi(routes, VERSION);
  const runs = await describeRuns(operations, 'login');
  const below = Object.entries(rows).map(([path, item]) => [`/v2${path}`, item] as const);
  const paths: Members = {};
  for (const [path, item] of [...below, ...Object.entries(runs.paths)]) {
    paths[path] = downgraded(item);
    await nextTurn();
  }
  return {
    ...rest,
    openapi: '3.0.3',
    info: {
      ...rest.info,
      title: 'Sitefleet',
      description: introduction(rest.info.description),
      license: { name: rest.info.license.name },
    },
    // Relative to the address of the description, so that a proxy may serve us below a path.
    servers: [{ url: '../' }],
    tags: [...rest.tags, ...runs.tags],
    paths,
    components: downgraded(components),
  };
}

type Members = Record<string, unknown>;

/** Members whose values are data, not schemas, even if they look like one. */
const DATA = new Set(['example', 'default', 'enum']);

/** Converts JSON Schema to the dialect of OpenAPI 3.0, at any depth. */
function downgraded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(downgraded);
  if (typeof value !== 'object' || value === null) return value;
  const out: Members = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, DATA.has(name) ? inner : downgraded(inner)]),
  );
  if ('const' in out && !('properties' in out)) {
    out.enum = [out.const];
    delete out.const;
  }
  for (const [limit, plain] of Object.entries({ exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' })) {
    if (typeof out[limit] !== 'number') continue;
    out[plain] = out[limit];
    out[limit] = true;
  }
  if (typeof out.propertyNames === 'object') delete out.propertyNames;
  if (out.type === 'null') Object.assign(out, { type: undefined, enum: [null], nullable: true });
  if (Array.isArray(out.type)) Object.assign(out, typesOf(out.type));
  if (out.type === 'array' && (out.items === undefined || Array.isArray(out.items))) out.items = {};
  if (Array.isArray(out.anyOf)) Object.assign(out, withoutNull(out.anyOf));
  for (const name of ['type', 'anyOf']) if (out[name] === undefined) delete out[name];
  return out;
}

function typesOf(types: readonly unknown[]): Members {
  const real = types.filter((type) => type !== 'null');
  const nullable = real.length < types.length ? { nullable: true } : {};
  if (real.length === 1) return { type: real[0], ...nullable };
  return {
    type: undefined,
    anyOf: real.map((type) => (type === 'array' ? { type, items: {} } : { type })),
    ...nullable,
  };
}

function withoutNull(choices: readonly Members[]): Members {
  const real = choices.filter(({ type }) => type !== 'null');
  if (real.length === choices.length) return {};
  return real.length === 1 ? { anyOf: undefined, ...real[0], nullable: true } : { anyOf: real, nullable: true };
}
