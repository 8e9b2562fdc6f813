/** The page is few files: each is a request that a view waits for. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtPage } from './browser.js';

it('every view is in the scripts that the document names, but for charts', async () => {
  const folder = await builtPage();
  const document = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...document.matchAll(/(?:href|src)="\/assets\/([^"]+)"/g)].map(([, file = '']) => file).sort();
  // The theme, before anything is painted; the icon; the style; the views; what they share with charts.
  expect(named).toHaveLength(5);
  const others = readdirSync(join(folder, 'assets'))
    .map((file) => file.replace(/\.br$/, ''))
    .filter((file) => !named.includes(file));
  expect(others).toEqual([expect.stringMatching(/^chart-/)]);
});
