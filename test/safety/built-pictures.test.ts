/** Pictures are read by the program as it is built: its bundles see packages otherwise than the sources do. */

import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type { createPictures } from '../../src/outbound/pictures/create.js';
import { Slots } from '../../src/runtime/slots.js';

const BUNDLES = 'dist/src/app';
/** Two pixels, black and white. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAADklEQVR4nGNgYGD4DwIADvoE/EWwHYsAAAAASUVORK5CYII=';

it('as by its sources', async () => {
  const bundles = readdirSync(BUNDLES).filter((name) => /^create-\w+\.js$/.test(name));
  const loaded = await Promise.all(bundles.map((name) => import(pathToFileURL(`${BUNDLES}/${name}`).href)));
  const built = loaded.find((bundle) => 'createPictures' in bundle) as { createPictures: typeof createPictures };
  const pictures = built.createPictures({ chromium: '', allowPrivate: false, slots: new Slots(1) });
  expect(await pictures.pixelsOf(Buffer.from(PNG, 'base64'))).toMatchObject({ width: 2, height: 1 });
});
