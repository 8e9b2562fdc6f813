/**
 * Tool definitions made when the program was built. Converting and shortening the schemas of all operations takes longer than
 * everything else of a start; run from its sources, the program does it with the first list.
 */

import { readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConfirmPolicy } from '../config/types.js';
import type { GroupedOperation } from '../operation/operation.js';
import { isGuarded, usesTokens } from './confirm.js';
import { toolOf } from './tool.js';
import { toolNamer } from './tool-names.js';

interface BuiltTools {
  /** Of the operations that the definitions were made of: texts name others of them. */
  ids: readonly string[];
  tools: readonly Tool[];
  /** Those of them that differ where the policy requires the token of a preview. */
  guarded: readonly Tool[];
}

/** For the build: the definitions of all operations. */
export function buildTools(operations: readonly GroupedOperation[]): BuiltTools {
  const ids = operations.map(({ id }) => id);
  const nameTools = toolNamer(ids);
  const tools = (policy: ConfirmPolicy, of: readonly GroupedOperation[]) =>
    of.map((operation) => toolOf(operation, policy, nameTools));
  return { ids, tools: tools('confirm', operations), guarded: tools('preview', operations.filter(isGuarded)) };
}

/** The definitions of these operations by id; empty where they were not built. */
export function builtTools(operations: readonly GroupedOperation[], policy: ConfirmPolicy): ReadonlyMap<string, Tool> {
  const built = read();
  const same = built?.ids.length === operations.length && operations.every(({ id }, index) => built.ids[index] === id);
  if (built === undefined || !same) return new Map();
  const guarded = new Map(usesTokens(policy) ? built.guarded.map((tool) => [tool.name, tool]) : []);
  return new Map(built.tools.map((tool, index) => [built.ids[index] ?? '', guarded.get(tool.name) ?? tool]));
}

function read(): BuiltTools | undefined {
  try {
    // The bundle of stdio lies in another folder beside this one.
    return JSON.parse(readFileSync(new URL('../mcp/tools.json', import.meta.url), 'utf8')) as BuiltTools;
  } catch {
    return undefined;
  }
}
