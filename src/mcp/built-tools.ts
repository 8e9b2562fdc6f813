/**
 * Tool definitions generated at build time. Converting and shortening the schemas of all operations takes longer than
 * the rest of startup; when run from its sources, the program does it for the first tool list.
 */

import { readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConfirmPolicy } from '../config/types.js';
import type { GroupedOperation } from '../operation/operation.js';
import { isGuarded, usesTokens } from './confirm.js';
import { toolOf } from './tool.js';
import { toolNamer } from './tool-names.js';

interface BuiltTools {
  /** All operations at build time. Descriptions name other tools, so the definitions only fit the same set. */
  ids: readonly string[];
  tools: readonly Tool[];
  /** The definitions that differ when the policy requires the token of a preview. */
  guarded: readonly Tool[];
}

/** Generates the definitions of all operations; called by the build. */
export function buildTools(operations: readonly GroupedOperation[]): BuiltTools {
  const ids = operations.map(({ id }) => id);
  const nameTools = toolNamer(ids);
  const tools = (policy: ConfirmPolicy, of: readonly GroupedOperation[]) =>
    of.map((operation) => toolOf(operation, policy, nameTools));
  return { ids, tools: tools('confirm', operations), guarded: tools('preview', operations.filter(isGuarded)) };
}

/** The built definitions of these operations by id; empty when none were built for this set of operations. */
export function builtTools(operations: readonly GroupedOperation[], policy: ConfirmPolicy): ReadonlyMap<string, Tool> {
  const built = read();
  const same = built?.ids.length === operations.length && operations.every(({ id }, index) => built.ids[index] === id);
  if (built === undefined || !same) return new Map();
  const guarded = new Map(usesTokens(policy) ? built.guarded.map((tool) => [tool.name, tool]) : []);
  return new Map(built.tools.map((tool, index) => [built.ids[index] ?? '', guarded.get(tool.name) ?? tool]));
}

function read(): BuiltTools | undefined {
  try {
    // The stdio bundle is in a sibling folder, so the path names this one.
    return JSON.parse(readFileSync(new URL('../mcp/tools.json', import.meta.url), 'utf8')) as BuiltTools;
  } catch {
    return undefined;
  }
}
