/** Which test files a run leaves out: each is there, and each runs in CI, at the latest within a week. */

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { IN_TURNS, isInTurn, LONG, turnOf } from '../support/which-files.js';

it('long files are there, and named once', () => {
  expect(LONG.filter((name) => !existsSync(`test/${name}.test.ts`))).toEqual([]);
  expect(new Set(LONG).size).toBe(LONG.length);
});

it('each of the longest files runs on one day of seven in a row', () => {
  const turns = Array.from({ length: 7 }, (_none, day) => turnOf(Date.UTC(2026, 11, 28 + day, 23, 59)));
  for (const index of IN_TURNS.keys()) expect(turns.filter((turn) => isInTurn(index, turn))).toHaveLength(1);
});
