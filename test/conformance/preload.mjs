/**
 * What the conformance suite needs to run here. On Node 20: `globSync`, which it imports for a score that we do not
 * request (another version of Node as a package is not an option: its `node` would precede the user's own in every npm
 * script). On a busy machine: time. It ends streams after 500 to 1,500 ms, which a machine at work on all other tests
 * may need for an answer, so each of its limits is ten times as long.
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

const { setTimeout: set } = globalThis;
globalThis.setTimeout = Object.assign((run, ms, ...rest) => set(run, ms >= 500 ? ms * 10 : ms, ...rest), set);
