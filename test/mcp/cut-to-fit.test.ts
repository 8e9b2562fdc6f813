/**
 * What an answer keeps when it is cut to fit: every operation answers lists of all lengths, made from its own schema, and
 * what is short, or tells what is not known or failed, is not lost in favour of a longer list.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contractOf, type JsonSchema } from '../../src/operation/contract.js';
import type { GroupedOperation } from '../../src/operation/operation.js';
import { systemClock } from '../../src/runtime/clock.js';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { createToolRegistry } from '../../src/surfaces/mcp/registry.js';
import { estimateTokens } from '../../src/surfaces/mcp/token-estimate.js';
import { operations } from '../../tools/index.js';
import { LOCAL, textOf } from '../support/mcp-clients.js';
import { silent } from '../support/surfaces.js';

const MAX = 4_000;
const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };

type Answer = Record<string, unknown>;

/** A value of a schema, different for each number. */
function sample(schema: JsonSchema, number: number): unknown {
  const { type, anyOf, items, properties, enum: choices } = schema;
  if ('const' in schema) return schema.const;
  if (Array.isArray(choices)) return choices[0];
  if (Array.isArray(anyOf)) return sample(anyOf[0] as JsonSchema, number);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === 'string') return `word ${number}`;
  if (kind === 'integer' || kind === 'number') return number;
  if (kind === 'boolean') return true;
  if (kind === 'array') return [sample((items ?? { type: 'string' }) as JsonSchema, number)];
  const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
  return Object.fromEntries(members.map(([name, member]) => [name, sample(member, number)]));
}

const membersOf = (operation: GroupedOperation) =>
  Object.entries(contractOf(operation).output_schema.properties as Record<string, JsonSchema>);
const listsOf = (operation: GroupedOperation) =>
  membersOf(operation).flatMap(([name, { type }]) => (type === 'array' ? [name] : []));

/** The lists with pages, where another list is before it. */
const PAGED: Record<string, string> = {
  'svc/get-batch-job-status-v1': 'items',
  'svc/search-fleet-v1': 'rows',
  'svc/compare-sites-v1': 'rows',
  'svc/get-run-v1': 'items',
  'svc/build-report-v1': 'reports',
  'svc/plan-updates-v1': 'items',
};

function pagedOf(operation: GroupedOperation): string | undefined {
  return 'per_page' in operation.input().shape ? (PAGED[operation.id] ?? listsOf(operation)[0]) : undefined;
}

/** Where the schema does not tell what is valid. */
const ARGS: Record<string, Answer> = {
  'svc/build-report-v1': { client_id_or_email: 2 },
  'svc/get-batch-job-status-v1': { job_id: `sync_${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}` },
  'svc/compare-sites-v1': { site_ids_or_domains: [1, 2] },
};

function argsOf(operation: GroupedOperation): Answer {
  const { required = [], properties } = contractOf(operation).input_schema;
  const schemas = properties as Record<string, JsonSchema>;
  const needed = (required as string[]).map((name) => [name, sample(schemas[name] as JsonSchema, 2)]);
  return { ...Object.fromEntries(needed), ...ARGS[operation.id] };
}

/** What says how much there is, or that it is a preview, and what MCP adds. */
const APART = new Set(['total', 'items_total', 'total_groups', 'dry_run', 'truncated', 'page', 'per_page', 'job_id']);

/** The answer over MCP of an operation whose lists are this long, and the answer before it was cut. */
async function answerOf(operation: GroupedOperation, lengths: Record<string, number>) {
  const paged = pagedOf(operation);
  const whole = Object.fromEntries(
    membersOf(operation)
      .filter(([name]) => !APART.has(name))
      .map(([name, schema]) => {
        const item = (schema.items ?? {}) as JsonSchema;
        const rows = Array.from({ length: lengths[name] ?? 0 }, (_, at) => sample(item, at + 1));
        return [name, schema.type === 'array' ? rows : sample(schema, 1)];
      }),
  ) as Answer;
  const registry = createToolRegistry({
    operations: [operation],
    invoke: async (_, raw) => {
      if (paged === undefined) return whole;
      const { page, per_page } = operation.parse(raw) as { page: number; per_page: number };
      const rows = whole[paged] as unknown[];
      const shown = rows.slice((page - 1) * per_page, page * per_page);
      return { ...whole, [paged]: shown, total: rows.length, page, per_page };
    },
    log: silent,
    clock: systemClock,
    readOnly: false,
    toolsets: TOOLSETS,
    maxTokens: MAX,
  });
  const result = await registry.callTool(contractOf(operation).tool, argsOf(operation), caller);
  if (!('content' in result)) throw new Error('a question');
  expect([operation.id, result.isError === true ? textOf(result) : '']).toEqual([operation.id, '']);
  return { whole, answer: result.structuredContent as Answer, paged };
}

/** Lists that tell what is not known, failed, or needs a person. */
const TELLING = `errors not_known not_checked needs_attention notices warnings suspects problems guidance`.split(' ');
const tells = (name: string) => TELLING.includes(name);

const weight = (rows: unknown) => estimateTokens(rows ?? []);

describe('an answer that is cut to fit', () => {
  const several = operations.filter((operation) => listsOf(operation).length > 1);

  it('is of an operation with several lists in many cases', () => {
    expect(several.length).toBeGreaterThan(30);
  });

  it.each(several.map(({ id }) => id))('of %s keeps what is short, and what tells', async (id) => {
    const operation = several.find((one) => one.id === id) as GroupedOperation;
    const lists = listsOf(operation);
    const length = fc.constantFrom(0, 1, 3, 12, 60, 400);
    const lengths = fc.record(Object.fromEntries(lists.map((name) => [name, length])));
    await fc.assert(
      fc.asyncProperty(lengths, async (given) => {
        const { whole, answer, paged } = await answerOf(operation, given);
        expect(estimateTokens(answer)).toBeLessThanOrEqual(MAX);
        const told = String(answer.truncated ?? '');
        for (const [name, value] of Object.entries(whole))
          if (!lists.includes(name)) expect([name, answer[name]]).toEqual([name, value]);
        const isCut = (name: string) => (answer[name] as unknown[]).length < (whole[name] as unknown[]).length;
        for (const name of lists.filter(isCut)) {
          const [shown, all] = [answer[name] as unknown[], whole[name] as unknown[]];
          expect([name, shown]).toEqual([name, all.slice(0, shown.length)]);
          // Something of every list is left, and the note counts the rest.
          expect([name, shown.length > 0]).toEqual([name, true]);
          expect(told).toMatch(new RegExp(`(?:^| )${shown.length} of \\d+ ${name}(?:,| are shown)`));
          // Of the same kind, no list keeps more than it, but for one row.
          const row = weight(all[shown.length]);
          for (const other of lists) {
            if (other === paged || name === paged || tells(other) !== tells(name)) continue;
            expect([name, other, weight(answer[other]) <= weight(shown) + row]).toEqual([name, other, true]);
          }
        }
        const sum = (names: string[]) => names.reduce((all, name) => all + weight(answer[name]), 0);
        const others = lists.filter((name) => !tells(name) && name !== paged);
        // What tells gives way to the rest only where it has half of the room.
        const row = Math.max(...lists.map((name) => weight((whole[name] as unknown[])[0])));
        if (lists.some((name) => tells(name) && isCut(name)))
          expect(sum(lists.filter(tells)) + row * lists.length).toBeGreaterThanOrEqual(sum(others));
        // The rows of a page can be asked for again, what is beside them cannot. That is cut in whole rows: what is left of the
        // last of them is the page's.
        if (paged !== undefined && lists.some((name) => name !== paged && isCut(name)))
          expect(weight(answer[paged])).toBeLessThanOrEqual(MAX / 4 + weight((whole[paged] as unknown[])[0]) + row);
      }),
      { numRuns: 12, seed: 39, examples: examplesOf(lists) },
    );
  });
});

/** Each list long in turn, and the others short. */
function examplesOf(lists: readonly string[]): [Record<string, number>][] {
  return lists.map((long) => [Object.fromEntries(lists.map((name) => [name, name === long ? 400 : 3]))]);
}
