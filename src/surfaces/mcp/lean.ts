/** The lean list of a few tools, and the two tools through which operations that a connection does not list are found and run. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { toolName } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { invalidInput } from '../../runtime/errors.js';
import type { Toolset } from '../../runtime/toolsets.js';
import { placeOf } from './done-on-page.js';
import { RUN_OPERATION } from './messages.js';
import { gapOf } from './not-stored.js';
import { ASKED } from './search-words.js';
import type { JsonObject } from './tool-result.js';

/** Returns the tool definition of an operation on this server. */
type ToolOf = (operation: GroupedOperation) => Tool;

export const SEARCH_OPERATIONS = 'search-operations';

/** Operations listed as tools, if the caller may use them. */
const SHOWN = [
  'svc/get-fleet-brief-v1',
  'svc/search-fleet-v1',
  'svc/get-site-v1',
  'svc/list-updates-v1',
  'svc/run-updates-v1',
  'svc/get-batch-job-status-v1',
];

/** Whether a lean connection has a tool for the operation. */
export function isShown(id: string): boolean {
  return SHOWN.includes(id);
}

const MOST_FOUND = 10;
const FOUND = 4;

/** The operations that a lean connection lists, in their order. @param visible those the caller may use */
export function leanOperations(visible: readonly GroupedOperation[]): GroupedOperation[] {
  return SHOWN.flatMap((id) => visible.filter((operation) => operation.id === id));
}

/**
 * The tools that find and run what a connection does not list.
 * @param visible the operations the caller may use
 * @param toolsets those to name, of which nothing is listed
 */
export function findingTools(visible: readonly GroupedOperation[], toolsets: readonly Toolset[]): Tool[] {
  return [searchTool(toolsets), runTool(visible.every(({ effect }) => effect === 'read'))];
}

function searchTool(toolsets: readonly Toolset[]): Tool {
  const named = toolsets.length === 0 ? '' : `: ${toolsets.join(', ')}`;
  return {
    name: SEARCH_OPERATIONS,
    title: 'Find operations',
    description: `Finds operations that are not listed as tools, with their inputs${named}. An empty query names all.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to do: add tag, delete plugin.' },
        limit: { type: 'integer', maximum: MOST_FOUND, default: FOUND },
      },
    },
    outputSchema: {
      type: 'object',
      properties: {
        operations: {
          type: 'array',
          items: { type: 'object' },
        },
        total: { type: 'integer' },
        note: { type: 'string' },
      },
      required: ['operations', 'total'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function runTool(reads: boolean): Tool {
  return {
    name: RUN_OPERATION,
    title: 'Run an operation',
    description: 'Runs an operation found by search-operations. Ask the user before you confirm.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', description: 'Its name.' },
        input: { type: 'object', description: 'As its input_schema says.' },
      },
      required: ['operation'],
    },
    annotations: { readOnlyHint: reads, destructiveHint: !reads, idempotentHint: false, openWorldHint: true },
  };
}

/** Name and input of the operation that a `run-operation` call runs. Throws `ability_invalid_input`. */
export function operationCall(args: unknown): { name: string; input: unknown } {
  const { operation, input, ...others } = recordOf(args, RUN_OPERATION);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalidInput(
      unknown,
      `${unknown} is not a field of ${RUN_OPERATION}.`,
      'Put the fields of the operation in input.',
    );
  if (typeof operation !== 'string' || operation === '')
    throw invalidInput(
      'operation',
      'operation must be the name of an operation.',
      `Find it with ${SEARCH_OPERATIONS}.`,
    );
  return { name: operation, input };
}

/**
 * Operations that match a query, best first, with input schema and hints; without a query, names and titles of all. The name
 * of a toolset finds all of its operations. Of what only people do, where they do it.
 */
export function searchOperations(
  visible: readonly GroupedOperation[],
  toolOf: ToolOf,
  args: unknown,
  baseUrl: string,
): JsonObject {
  const { query = '', limit = FOUND, ...others } = recordOf(args, SEARCH_OPERATIONS);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalidInput(unknown, `${unknown} is not a field of ${SEARCH_OPERATIONS}.`, 'Send query and limit.');
  if (typeof query !== 'string' || query.length > 500)
    throw invalidInput('query', 'query must be a text of at most 500 characters.', 'Send a few words.');
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > MOST_FOUND)
    throw invalidInput('limit', `limit must be 1 to ${MOST_FOUND}.`, 'Omit it for the best few.');
  const words = wordsOf(query);
  if (words.length === 0) {
    const operations = visible.map(named);
    return { operations, total: operations.length };
  }
  const group = visible.filter(({ group }) => group === query.trim().toLowerCase());
  if (group.length > 0) {
    // Those that the word is about come with all that a call needs.
    const best = ranked(group, words);
    const sorted = [...best, ...group.filter((one) => !best.includes(one))];
    const operations = sorted.map((one, at) => (at < (limit as number) ? described(one, toolOf) : named(one)));
    return { operations, total: operations.length };
  }
  const note = placeOf(words, wordsOf, baseUrl);
  if (note !== undefined) return { note, operations: [], total: 0 };
  const gap = gapOf(words, wordsOf);
  if (gap !== undefined) {
    const near = gap.operations.flatMap((id) => visible.find((one) => one.id === id) ?? []);
    return { note: gap.note, operations: near.map((one) => described(one, toolOf)), total: near.length };
  }
  const found = ranked(visible, words);
  const operations = found.slice(0, limit as number).map((operation) => described(operation, toolOf));
  return { operations, total: found.length };
}

function named({ id, title, effect }: GroupedOperation): JsonObject {
  return { operation: toolName(id), about: title, ...(effect === 'read' ? {} : { effect }) };
}

function described(operation: GroupedOperation, toolOf: ToolOf): JsonObject {
  const { name, description, inputSchema } = toolOf(operation);
  const { effect, idempotent } = operation;
  return { operation: name, about: description, effect, idempotent, input_schema: inputSchema };
}

/** How much a word weighs where it stands. */
const WEIGHTS = { name: 3, asked: 2.4, title: 1.5, about: 1, inputs: 0.5 } as const;

interface Indexed {
  operation: GroupedOperation;
  words: Record<keyof typeof WEIGHTS, ReadonlySet<string>>;
}

const indexed = new WeakMap<GroupedOperation, Indexed>();

function indexOf(operation: GroupedOperation): Indexed {
  const known = indexed.get(operation);
  if (known !== undefined) return known;
  const { id, title, about, instructions } = operation;
  const name = id.replace(/^svc\/|-v\d+$/g, '');
  const made = {
    operation,
    words: {
      name: new Set(wordsOf(name)),
      asked: new Set(wordsOf(ASKED[name] ?? '')),
      title: new Set(wordsOf(title)),
      about: new Set(wordsOf(`${about} ${instructions}`)),
      inputs: new Set(wordsOf(Object.keys(operation.input().shape).join(' '))),
    },
  };
  indexed.set(operation, made);
  return made;
}

/**
 * The operations that a question is about, best first. A word weighs by where it stands, and more the fewer operations
 * have it; of equals the one with the shorter name is meant.
 */
function ranked(visible: readonly GroupedOperation[], words: readonly string[]): GroupedOperation[] {
  const all = visible.map(indexOf);
  const scores = new Map(all.map((one) => [one, 0]));
  for (const word of new Set(words)) {
    const weights = all.map((one) => ({ one, weight: weightOf(one, word) })).filter(({ weight }) => weight > 0);
    const rarity = Math.log(1 + all.length / (weights.length + 1));
    for (const { one, weight } of weights) scores.set(one, (scores.get(one) ?? 0) + weight * rarity);
  }
  const scored = all.map((one) => ({ one, score: (scores.get(one) ?? 0) + coverage(one, words) }));
  return scored
    .filter(({ one }) => (scores.get(one) ?? 0) > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one.operation);
}

/** Where a word stands more than once, the heaviest place counts, and the others a little. */
function weightOf({ words }: Indexed, word: string): number {
  const found = Object.entries(WEIGHTS).filter(([field]) => words[field as keyof typeof WEIGHTS].has(word));
  const weights = found.map(([, weight]) => weight);
  return weights.length === 0 ? 0 : Math.max(...weights) + 0.15 * (weights.length - 1);
}

/** How much of its name is asked for. */
function coverage({ words: { name } }: Indexed, words: readonly string[]): number {
  return (3 * words.filter((word) => name.has(word)).length) / name.size;
}

/** Words that are ignored: parts of every name, and stop words. */
const SILENT: ReadonlySet<string> = new Set(
  'svc v1 a an the of to for on in and or i me we our us it its this that these those be been do does did is are was were there some any at by as with from has have had will would can could should please want need'.split(
    ' ',
  ),
);

/** Words without their endings: `certificates` and `certificate`, `updating` and `update` are one. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SILENT.has(word))
    .map(stemOf);
}

function stemOf(word: string): string {
  if (word.length < 4) return word;
  const singular = word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');
  const bare = singular.replace(/(?:ing|ed|er|ly)$/, '');
  return (bare.length < 3 ? singular : bare).replace(/(.)\1$/, '$1').replace(/(?<=..)[ey]$/, '');
}

function recordOf(args: unknown, tool: string): JsonObject {
  if (args !== null && typeof args === 'object' && !Array.isArray(args)) return args as JsonObject;
  throw invalidInput('arguments', `${tool} takes an object.`, 'Send its fields as an object.');
}
