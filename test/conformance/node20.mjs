/**
 * Lets the conformance suite load on Node 20: it imports `globSync`, which was added in Node 22, for a score that we do
 * not request. Another version of Node as a package is not an option: its `node` would precede the user's own in every
 * npm script.
 */

import fs from 'node:fs';
import { register } from 'node:module';

const withGlob = `export * from 'node:fs';
export function globSync() { throw new Error('globSync is not there on Node 20.'); }`;

const hooks = `export async function resolve(specifier, context, next) {
  if (/^(node:)?fs$/.test(specifier) && /@modelcontextprotocol\\/conformance\\//.test(context.parentURL ?? ''))
    return { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(withGlob)}`)}, shortCircuit: true };
  return next(specifier, context);
}`;

if (!('globSync' in fs)) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
