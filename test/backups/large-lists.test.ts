/** Lists of files that would end the program: a site may name as many as it likes. */

import { describe, expect, it } from 'vitest';
import { listFiles, roomForFiles } from '../../src/domain/backups/list-files.js';
import type { SiteBackup } from '../../src/domain/backups/plugin.js';

const MB = 1024 * 1024;
const PAGE = 4_000;

/** A site whose list has no end; `pages` counts what was asked of it. */
function endless(length: number) {
  const path = (at: number) => String(at).padStart(length, '0');
  const asked = { pages: 0 };
  const site = {
    manifest: async () => {
      const first = asked.pages++ * PAGE;
      const file = (at: number) => ({ path: path(first + at), size: 1, time: 1, inode: 1, changed: 1, mode: 0o644 });
      return { files: Array.from({ length: PAGE }, (_, at) => file(at)), left_out: [], next: path(first + PAGE - 1) };
    },
  } as unknown as SiteBackup;
  return { site, asked };
}

const list = (site: SiteBackup, heap: number) =>
  listFiles(site, new AbortController().signal, undefined, roomForFiles(heap)).catch((error: unknown) => error);

describe('a list without an end', () => {
  it.each([
    // What Node takes on a machine of 512 MB: two lists, at some 900 bytes a file, leave a quarter of it.
    ['of usual paths, with 256 MB', 256 * MB, 64, 96 * MB, 900],
    ['of long paths, with 256 MB', 256 * MB, 1_000, 96 * MB, 2_770],
    ['with 1 GB', 1024 * MB, 64, 384 * MB, 900],
  ])('%s: is given up in time, and says what helps', async (_what, heap, length, room, bytes) => {
    const { site, asked } = endless(length);
    const error = await list(site, heap);
    expect(error).toMatchObject({
      code: 'svc_backup_failed',
      message: expect.stringContaining(`${room / MB} MB`),
      advice: expect.stringContaining('--max-old-space-size'),
    });
    const files = asked.pages * PAGE;
    expect(files).toBeGreaterThan(0.95 * (room / bytes));
    expect(files).toBeLessThan(1.05 * (room / bytes) + PAGE);
  });

  it('has a million files at most, however much memory there is', async () => {
    const { site } = endless(12);
    expect(await list(site, 64 * 1024 * MB)).toMatchObject({ message: expect.stringContaining('1000000 files') });
  });
});
