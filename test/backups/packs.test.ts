/** Packs of the backup repository can always be listed again, whatever a site has sent: the index may have to be made from them. */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderBackend } from '../../src/store/backups/repository/folder.js';
import { listPack, PackWriter, packPath } from '../../src/store/backups/repository/packs.js';
import { createSealer, MAX_CHUNK_BYTES } from '../../src/store/backups/repository/seal.js';
import { tempFolder } from '../support/cleanup.js';

const sealer = createSealer(randomBytes(32));

it('a pack that is full of the smallest chunks', async () => {
  const backend = folderBackend(join(tempFolder('packs'), 'repository'));
  const pack = new PackWriter();
  const sealed = await sealer.seal(Buffer.from('a'), 'chunk');
  for (let at = 0; !pack.isFull; at++) pack.add(at.toString(16).padStart(64, '0'), 1, sealed);
  const { name, bytes } = await pack.finish(sealer);
  await backend.put(packPath(name), bytes);
  expect(await listPack(backend, sealer, name, bytes.length)).toEqual(pack.chunks);
});

it('nothing is sealed that could not be opened', async () => {
  const largest = Buffer.alloc(MAX_CHUNK_BYTES);
  expect((await sealer.open(await sealer.seal(largest, 'largest'), 'largest')).equals(largest)).toBe(true);
  await expect(sealer.seal(Buffer.alloc(MAX_CHUNK_BYTES + 1), 'larger')).rejects.toThrow('larger has 16777217 bytes');
});
