/** Lists the files of a site as they are now, page by page. */

import { getHeapStatistics } from 'node:v8';
import type { ManifestPage } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteBackup } from './plugin.js';

/** More files than any site should have. */
const MAX_FILES = 1_000_000;
/** Bytes that their paths take together. */
const MAX_PATH_BYTES = 64 * 1024 * 1024;
/** Memory that a file takes in a list until it is backed up, measured: besides its path, which is held twice, and with a usual one. */
const FILE_BYTES = 770;
const WITH_PATH = 900;
/** Of the memory that this program may take: two sites are backed up at a time, beside all else. */
const SHARE = 3 / 8;
/** A text takes two bytes for each character where one of them is of these. */
const WIDE = /[\u0100-\uffff]/;

/** Bytes that the list of one site may take. @param heap those that this program may */
export function roomForFiles(heap = getHeapStatistics().heap_size_limit): number {
  return heap * SHARE;
}

/** Whether there is room for the list of so many files. */
export function isRoomFor(files: number): boolean {
  return files * WITH_PATH <= roomForFiles();
}

/**
 * @param turn awaited before each request
 * @param room bytes that the list may take
 * @throws ServiceError `svc_backup_failed` if the site has too many, or its list does not get further with each page
 */
export async function listFiles(
  site: SiteBackup,
  signal: AbortSignal,
  turn: () => Promise<void> = () => Promise.resolve(),
  room = roomForFiles(),
): Promise<Pick<ManifestPage, 'files' | 'left_out'>> {
  const listed: Pick<ManifestPage, 'files' | 'left_out'> = { files: [], left_out: [] };
  let bytes = 0;
  for (let after: string | null = ''; after !== null; ) {
    await turn();
    const page: ManifestPage = await site.manifest(after, { signal });
    listed.files.push(...page.files);
    listed.left_out.push(...page.left_out);
    if (named(listed) > MAX_FILES)
      throw new ServiceError('svc_backup_failed', `The site has more than ${MAX_FILES} files.`);
    for (const { path } of [...page.files, ...page.left_out]) bytes += WIDE.test(path) ? 2 * path.length : path.length;
    if (bytes > MAX_PATH_BYTES)
      throw new ServiceError('svc_backup_failed', "The names of the site's files are too long to be listed.");
    const count = named(listed);
    if (count * FILE_BYTES + 2 * bytes > room)
      throw new ServiceError(
        'svc_backup_failed',
        `The site has more files than fit into the memory here: with ${Math.round(room / 1024 / 1024)} MB for their list, ${count} are too many.`,
        {
          advice:
            'Give Sitefleet more memory, by NODE_OPTIONS=--max-old-space-size=MB, of which the list gets three eighths. Or remove files that the site does not need, as old caches.',
        },
      );
    if (page.next !== null && !(named(page) > 0 && isAfter(page.next, after)))
      throw new ServiceError('svc_backup_failed', "The list of the site's files does not get further.", {
        advice: 'Something in front of the site may change its answers, or its disk may be too slow. Try again.',
      });
    after = page.next;
  }
  return listed;
}

function named({ files, left_out }: Pick<ManifestPage, 'files' | 'left_out'>): number {
  return files.length + left_out.length;
}

/** In the order of the site: folder by folder, names by their bytes. Each byte is a letter here. */
function isAfter(path: string, other: string): boolean {
  const [one, two] = [path, other].map((text) =>
    Buffer.from(text)
      .toString('latin1')
      .replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
      .replaceAll('/', '\0'),
  ) as [string, string];
  return one > two;
}
