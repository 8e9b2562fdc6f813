/** The page is few files: each is a request that a view waits for. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtPage } from './browser.js';

it('every view is in the scripts that the document names, but for charts', async () => {
  const folder = await builtPage();
  const document = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...document.matchAll(/(?:href|src)="\/assets\/([^"]+)"/g)].map(([, file = '']) => file).sort();
  // The icon; the style; the views; what they share with charts. What sets the theme is within.
  expect(named).toHaveLength(4);
  expect(document.match(/<script>/g)).toHaveLength(1);
  const others = readdirSync(join(folder, 'assets'))
    .map((file) => file.replace(/\.br$/, ''))
    .filter((file) => !named.includes(file));
  expect(others).toEqual([expect.stringMatching(/^chart-/)]);
});
