/**
 * Tool definitions made when the program was built. Converting and shortening the schemas of all operations takes longer than
 * everything else of a start; run from its sources, the program does it with the first list.
 */

import { readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ConfirmPolicy } from '../config/types.js';
import type { GroupedOperation } from '../operation/operation.js';
import { usesTokens } from './confirm.js';
import { toolOf } from './tool.js';
import { toolNamer } from './tool-names.js';

interface BuiltTools {
  /** Of the operations that the definitions were made of: texts name others of them. */
  ids: readonly string[];
  /** By policy: guarded tools show a token where one is required. */
  plain: readonly Tool[];
  tokens: readonly Tool[];
}

/** For the build: the definitions of all operations. */
export function buildTools(operations: readonly GroupedOperation[]): BuiltTools {
  const ids = operations.map(({ id }) => id);
  const nameTools = toolNamer(ids);
  const tools = (policy: ConfirmPolicy) => operations.map((operation) => toolOf(operation, policy, nameTools));
  return { ids, plain: tools('confirm'), tokens: tools('preview') };
}

/** The definitions of these operations by id; empty where they were not built. */
export function builtTools(operations: readonly GroupedOperation[], policy: ConfirmPolicy): ReadonlyMap<string, Tool> {
  const built = read();
  const same = built?.ids.length === operations.length && operations.every(({ id }, index) => built.ids[index] === id);
  if (built === undefined || !same) return new Map();
  const tools = usesTokens(policy) ? built.tokens : built.plain;
  return new Map(tools.map((tool, index) => [built.ids[index] ?? '', tool]));
}

function read(): BuiltTools | undefined {
  try {
    // The bundle of stdio lies in another folder beside this one.
    return JSON.parse(readFileSync(new URL('../mcp/tools.json', import.meta.url), 'utf8')) as BuiltTools;
  } catch {
    return undefined;
  }
}
