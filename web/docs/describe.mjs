/**
 * A single description of everything callable over HTTP, in OpenAPI 3.0: the viewer takes ten times as long for 3.1.
 */

import { importSources } from '../../scripts/bundle.mjs';

/** Imported when a description is made, because bundling them takes as long as all else that the reference consists of. */
const SOURCES = `export { openApi } from './src/surfaces/rest/openapi.js';
  export { routes } from './src/surfaces/rest/index.js';
  export { describeRuns } from './src/surfaces/abilities/openapi.js';
  export { operations } from './tools/index.js';
  export { VERSION } from './src/runtime/version.js';`;

const introduction = (rows) => `**Rows below /v2** are for scripts and take an API key. \
**Operations**, listed after them, are what assistants call as MCP tools; over HTTP they take the user name and password of a login, and \`{"input": {…}}\`.

${rows}`;

export async function describeAll() {
  const { openApi, routes, describeRuns, operations, VERSION } = await importSources(SOURCES, 'dist/describe.mjs');
  const { webhooks: _not30, ...rest } = await openApi(routes, VERSION);
  const runs = describeRuns(operations, 'login');
  const below = Object.entries(rest.paths).map(([path, item]) => [`/v2${path}`, item]);
  return downgraded({
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
    paths: { ...Object.fromEntries(below), ...runs.paths },
  });
}

/** Members whose values are data, not schemas, even if they look like one. */
const DATA = new Set(['example', 'default', 'enum']);

/** Converts JSON Schema to the dialect of OpenAPI 3.0, at any depth. */
function downgraded(value) {
  if (Array.isArray(value)) return value.map(downgraded);
  if (typeof value !== 'object' || value === null) return value;
  const out = Object.fromEntries(
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

function typesOf(types) {
  const real = types.filter((type) => type !== 'null');
  const nullable = real.length < types.length ? { nullable: true } : {};
  if (real.length === 1) return { type: real[0], ...nullable };
  return {
    type: undefined,
    anyOf: real.map((type) => (type === 'array' ? { type, items: {} } : { type })),
    ...nullable,
  };
}

function withoutNull(choices) {
  const real = choices.filter(({ type }) => type !== 'null');
  if (real.length === choices.length) return {};
  return real.length === 1 ? { anyOf: undefined, ...real[0], nullable: true } : { anyOf: real, nullable: true };
}
