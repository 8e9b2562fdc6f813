/**
 * Everyday tasks on 60 and on 5,000 sites: completed with few calls and small answers. Generates the table in the
 * documentation.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from './checks.js';
import { type AssistantFleet, assistantFleet } from './fleets.js';
import { Session } from './session.js';
import { SUPPORT_TASKS } from './support-tasks.js';
import { EVERYDAY } from './tasks.js';

const TASKS = [...EVERYDAY, ...SUPPORT_TASKS];

const MOST_CALLS: Record<Task['kind'], number> = { read: 3, change: 4 };
const MOST_TOKENS = 3_000;

const FILE = new URL('../../docs/assistants.md', import.meta.url);
const BLOCK = /<!-- tasks:start -->[\s\S]*<!-- tasks:end -->/;
/** Only `npm run gen` writes the table; other runs are compared with it. */
const GENERATES = process.env.npm_lifecycle_event === 'gen';

interface Measured {
  calls: number;
  tokens: number;
}

const FLEETS = [
  { name: '60 sites', seed: 11, stored: 0 },
  { name: '5,000 sites', seed: 23, stored: 4_940 },
] as const;

const measured = new Map<string, Measured>();
const keyOf = (fleet: string, task: Task) => `${fleet}: ${task.ask}`;

/** Tokens rounded for the table, so that it does not change with each run. */
const rounded = (tokens: number) => Math.ceil(tokens / 50) * 50;

function rowOf(task: Task): string {
  const cells = FLEETS.flatMap(({ name }) => {
    const { calls, tokens } = measured.get(keyOf(name, task)) ?? { calls: 0, tokens: 0 };
    return [String(calls), String(rounded(tokens))];
  });
  return `| ${[task.ask, task.kind, task.toolsets?.replace('default,', '') ?? '', ...cells].join(' | ')} |`;
}

/** Calls and tokens of a task on each fleet, as stored in the table. */
function written(task: Task): Measured[] {
  const row = readFileSync(FILE, 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${task.ask} |`));
  if (row === undefined) throw new Error(`docs/assistants.md has no row for: ${task.ask} Run "npm run gen".`);
  const cells = row.split('|').slice(4, -1).map(Number);
  return FLEETS.map((_, at) => ({ calls: cells[2 * at] ?? 0, tokens: cells[2 * at + 1] ?? 0 }));
}

describe.each(FLEETS)('$name', ({ name, seed, stored }) => {
  let fleet: AssistantFleet;
  let named = 0;
  beforeAll(async () => {
    fleet = await assistantFleet(name, seed, stored);
  });
  afterAll(() => fleet.mcp.close());

  it.each(TASKS)('$ask', async (task) => {
    const session = await Session.open(fleet, task.toolsets ?? '');
    try {
      await task.run(session, fleet);
    } finally {
      await session.close();
    }
    const { calls, tokens } = session;
    named += session.named;
    measured.set(keyOf(name, task), { calls, tokens });
    expect(calls).toBeLessThanOrEqual(MOST_CALLS[task.kind]);
    expect(tokens).toBeLessThanOrEqual(MOST_TOKENS);
    if (GENERATES) return;
    const before = written(task)[FLEETS.findIndex((one) => one.name === name)];
    expect(calls).toBeLessThanOrEqual(before?.calls ?? 0);
    // Ids and times change the number of tokens a little between runs.
    expect(tokens).toBeLessThanOrEqual((before?.tokens ?? 0) * 1.1 + 50);
  });

  it('named calls on the way, all of which worked', () => {
    expect(named).toBeGreaterThan(10);
  });
});

it('has a table of them for readers', () => {
  const text = readFileSync(FILE, 'utf8');
  if (!GENERATES) {
    expect(text.match(/^\| .* \| (?:read|change) \| /gm)).toHaveLength(TASKS.length);
    return;
  }
  const sites = FLEETS.map(({ name }) => `calls, ${name} | tokens`);
  const head = `| Asked | | Toolset | ${sites.join(' | ')} |`;
  const table = [
    '<!-- tasks:start -->',
    head,
    '|---|---|---|--:|--:|--:|--:|',
    ...TASKS.map(rowOf),
    '<!-- tasks:end -->',
  ];
  writeFileSync(FILE, text.replace(BLOCK, table.join('\n')));
});
