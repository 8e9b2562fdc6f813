/** The lean list: a few tools for most questions, and two through which all other operations are found and run. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { toolName } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { invalidInput } from '../../runtime/errors.js';
import { RUN_OPERATION } from './messages.js';
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

/** The tools of a lean connection. @param visible the operations the caller may use */
export function leanTools(visible: readonly GroupedOperation[], toolOf: ToolOf): Tool[] {
  const shown = SHOWN.flatMap((id) => visible.filter((operation) => operation.id === id));
  const reads = visible.every(({ effect }) => effect === 'read');
  return [...shown.map(toolOf), searchTool(), runTool(reads)];
}

function searchTool(): Tool {
  return {
    name: SEARCH_OPERATIONS,
    title: 'Find operations',
    description: 'Finds operations that are not listed as tools, with their inputs. An empty query names all.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to do, such as: add tag, delete plugin.' },
        limit: { type: 'integer', maximum: MOST_FOUND, default: FOUND },
      },
    },
    outputSchema: {
      type: 'object',
      properties: {
        operations: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              operation: { type: 'string' },
              about: { type: 'string' },
              effect: { type: 'string', enum: ['read', 'write', 'destroy'] },
              idempotent: { type: 'boolean' },
              input_schema: { type: 'object' },
            },
            required: ['operation', 'about', 'effect'],
          },
        },
        total: { type: 'integer' },
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
    description:
      'Runs an operation found by search-operations. Destructive ones take dry_run or confirm in their input. Ask the user before you confirm.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', description: 'Its name.' },
        input: { type: 'object', description: 'As described in its input_schema.' },
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

/** Operations that match a query, best first, with input schema and hints; without a query, names and titles of all. */
export function searchOperations(visible: readonly GroupedOperation[], toolOf: ToolOf, args: unknown): JsonObject {
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
    const operations = visible.map(({ id, title, effect }) => ({ operation: toolName(id), about: title, effect }));
    return { operations, total: operations.length };
  }
  const found = visible
    .map((operation) => ({ operation, score: scoreOf(operation, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const operations = found.slice(0, limit as number).map(({ operation }) => described(operation, toolOf));
  return { operations, total: found.length };
}

function described(operation: GroupedOperation, toolOf: ToolOf): JsonObject {
  const { name, description, inputSchema } = toolOf(operation);
  const { effect, idempotent } = operation;
  return { operation: name, about: description, effect, idempotent, input_schema: inputSchema };
}

/** Matches in the name weigh most; the fewer other words the name has, the higher the score. */
function scoreOf({ id, title, about, instructions, input }: GroupedOperation, words: readonly string[]): number {
  const name = wordsOf(id);
  const heading = wordsOf(title);
  const rest = wordsOf(`${about} ${instructions} ${Object.keys(input().shape).join(' ')}`);
  const score = words.reduce(
    (sum, word) =>
      sum +
      (name.includes(word) ? 1 : 0) +
      (fits(name, word) ? 4 : 0) +
      (fits(heading, word) ? 1 : 0) +
      (fits(rest, word) ? 1 : 0),
    0,
  );
  return score === 0 ? 0 : score + (8 * words.filter((word) => fits(name, word)).length) / name.length;
}

/** Whether a word equals a word of the list or one is a prefix of the other, so that plurals match. */
function fits(list: readonly string[], word: string): boolean {
  return list.some(
    (one) => one === word || (word.length > 2 && one.startsWith(word)) || (one.length > 2 && word.startsWith(one)),
  );
}

/** Words that are ignored: parts of every name, and stop words. */
const SILENT: ReadonlySet<string> = new Set([
  'svc',
  'v1',
  'a',
  'an',
  'the',
  'of',
  'to',
  'for',
  'on',
  'in',
  'and',
  'or',
]);

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SILENT.has(word));
}

function recordOf(args: unknown, tool: string): JsonObject {
  if (args !== null && typeof args === 'object' && !Array.isArray(args)) return args as JsonObject;
  throw invalidInput('arguments', `${tool} takes an object.`, 'Send its fields as an object.');
}
