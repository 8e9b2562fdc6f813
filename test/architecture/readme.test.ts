/** The table of settings in docs/configuration.md is generated from the program's own. */

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeConfig } from '../../src/runtime/config/config.js';

const FILE = new URL('../../docs/configuration.md', import.meta.url);
const BLOCK = /<!-- config:start -->[\s\S]*<!-- config:end -->/;

it('lists every variable with its default', () => {
  const rows = describeConfig().map(
    ({ name, default: standard, meaning }) =>
      `| \`${name}\` | ${standard === '' ? '' : `\`${standard}\``} | ${meaning} |`,
  );
  const table = [
    '<!-- config:start -->',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '<!-- config:end -->',
  ].join('\n');
  const text = readFileSync(FILE, 'utf8');
  const made = text.replace(BLOCK, () => table);
  if (process.env.npm_lifecycle_event === 'gen') return writeFileSync(FILE, made);
  expect(text, 'run "npm run gen"').toBe(made);
});
