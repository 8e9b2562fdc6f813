/** The words of the product: phrases that a native reader stumbles over appear in no text, document or comment. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['tools', 'schemas', 'src', 'docs', 'web', 'php'];
const FILES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const TEXT = /\.(?:ts|tsx|mts|mjs|md|json|css|html|php)$/;

/** Each phrase, with what to write instead. */
const BANNED: Readonly<Record<string, string>> = {
  'stands in': 'is in',
  'by itself': 'automatically, on its own',
  'put back': 'rolled back',
  'puts back': 'rolls back',
  'not well': 'unhealthy',
  'whose time is over': 'expired, due',
  'is no news': 'is known',
  'held back': 'quarantined',
  whoever: 'the person who, anyone who',
  anew: 'again',
  'taken back': 'rolled back, undone',
  'sites at work': 'sites in progress',
  'for so long': 'for this long, during this time',
};

function files(): string[] {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => TEXT.test(file) && !/node_modules|dist[\\/]/.test(file))
      .map((file) => join(folder, file)),
  );
  return [...below, ...FILES];
}

it('are plain: no text, document or comment has a banned phrase', () => {
  const all = files();
  expect(all.length).toBeGreaterThan(500);
  const phrases = Object.entries(BANNED).map(
    ([phrase, instead]) =>
      [new RegExp(String.raw`\b${phrase.replaceAll(' ', String.raw`[\s*/]+`)}\b`, 'gi'), instead] as const,
  );
  const found = all.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return phrases.flatMap(([pattern, instead]) =>
      [...text.matchAll(pattern)].map(({ 0: phrase, index }) => {
        const line = text.slice(0, index).split('\n').length;
        return `${file}:${line}: "${phrase.replace(/\s+/g, ' ')}"; write: ${instead}`;
      }),
    );
  });
  expect(found).toEqual([]);
});
