/**
 * Generates `web/api/schema.d.ts`, the types of the REST calls that the page makes, from the rows themselves; run by
 * `npm run typecheck`. Fails if the page calls a row that does not exist.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compile } from 'json-schema-to-typescript';

// In one file: to translate and load a thousand modules one by one takes several times as long.
const rows = new URL('../node_modules/.cache/page-types/rows.mjs', import.meta.url);
await build({
  stdin: {
    contents: `export { VERSION } from './runtime/version.js';
      export { routes } from './surfaces/rest/index.js';
      export { openApi } from './surfaces/rest/openapi.js';`,
    resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
  },
  outfile: fileURLToPath(rows),
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
});
const { VERSION, routes, openApi } = await import(rows.href);

const web = new URL('../web/', import.meta.url);
const CALL = /\bapi\.(GET|POST|PUT|PATCH|DELETE)\(\s*'([^']+)'/g;

const calls = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .flatMap((file) => [...readFileSync(new URL(file, web), 'utf8').matchAll(CALL)])
  .map(([, method, path]) => ({ method: method.toLowerCase(), path }));

const { paths, components } = await openApi(routes, VERSION);
const unknown = calls.filter(({ method, path }) => paths[path]?.[method] === undefined);
if (unknown.length > 0) throw new Error(`The page calls rows that do not exist: ${JSON.stringify(unknown)}`);

const used = {};
for (const { method, path } of calls)
  used[path] = { ...used[path], [method]: typed(paths[path][method], components.parameters) };
const schema = record(
  Object.fromEntries(
    Object.keys(used)
      .sort()
      .map((path) => [path, record(used[path])]),
  ),
);
const text = await compile(bare({ ...schema, $defs: reached(schema, components.schemas) }), 'paths', {
  bannerComment: '/* Generated from the REST rows that the page calls; not to be edited. */',
  additionalProperties: false,
  unreachableDefinitions: false,
  ignoreMinAndMaxItems: true,
  format: false,
});
// The client looks up statuses as numbers, and expects this name of the interface.
const made = text.replaceAll(/["']200["']: \{/g, '200: {').replace('export interface Paths', 'export interface paths');
writeFileSync(new URL('api/schema.d.ts', web), made);

function record(properties, required = Object.keys(properties)) {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** An operation in the form that `openapi-fetch` expects. */
function typed({ parameters, requestBody, responses }, shared) {
  const all = parameters.map((one) => shared[one.$ref?.split('/').at(-1) ?? ''] ?? one);
  const at = (where) => {
    const own = all.filter((one) => one.in === where);
    const properties = Object.fromEntries(own.map(({ name, schema }) => [name, schema]));
    return record(
      properties,
      own.filter(({ required }) => required).map(({ name }) => name),
    );
  };
  const [query, path] = [at('query'), at('path')];
  const sent = Object.entries({ query, path }).filter(([, { properties }]) => Object.keys(properties).length > 0);
  const needed = sent.filter(([, { required }]) => required.length > 0).map(([where]) => where);
  return record(
    {
      parameters: record(Object.fromEntries(sent), needed),
      ...(requestBody === undefined ? {} : { requestBody: record({ content: requestBody.content }) }),
      responses: record({
        200: record({ content: record({ 'application/json': responses['200'].content['application/json']?.schema }) }),
      }),
    },
    ['parameters', 'responses', ...(requestBody?.required === true ? ['requestBody'] : [])],
  );
}

/** Replaces each content object of a request body with its schema. */
function bare(schema) {
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/');
  return JSON.parse(text, (key, value) =>
    key === 'application/json' && value !== null && typeof value === 'object' && 'schema' in value
      ? value.schema
      : value,
  );
}

/** The named schemas that a schema refers to, directly or indirectly. */
function reached(schema, named) {
  const found = {};
  const visit = (one) => {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const target = named[name];
      if (target === undefined || name in found) continue;
      found[name] = target;
      visit(target);
    }
  };
  visit(schema);
  return found;
}
