/** Lists the files of a site as they are now, page by page. */

import type { ManifestPage } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteBackup } from './plugin.js';

/** More files than any site should have. */
const MAX_FILES = 1_000_000;
/** Bytes that their paths take together, which are held in memory twice: those of the last backup, too. */
const MAX_PATH_BYTES = 64 * 1024 * 1024;
/** A text takes two bytes for each character where one of them is of these. */
const WIDE = /[\u0100-\uffff]/;

/**
 * @param turn awaited before each request
 * @throws ServiceError `svc_backup_failed` if the site has too many, or its list does not get further with each page
 */
export async function listFiles(
  site: SiteBackup,
  signal: AbortSignal,
  turn: () => Promise<void> = () => Promise.resolve(),
): Promise<Pick<ManifestPage, 'files' | 'left_out'>> {
  const listed: Pick<ManifestPage, 'files' | 'left_out'> = { files: [], left_out: [] };
  let bytes = 0;
  for (let after: string | null = ''; after !== null; ) {
    await turn();
    const page: ManifestPage = await site.manifest(after, { signal });
    listed.files.push(...page.files);
    listed.left_out.push(...page.left_out);
    if (listed.files.length + listed.left_out.length > MAX_FILES)
      throw new ServiceError('svc_backup_failed', `The site has more than ${MAX_FILES} files.`);
    for (const { path } of [...page.files, ...page.left_out]) bytes += WIDE.test(path) ? 2 * path.length : path.length;
    if (bytes > MAX_PATH_BYTES)
      throw new ServiceError('svc_backup_failed', "The names of the site's files are too long to be listed.");
    if (page.next !== null && !(named(page) > 0 && isAfter(page.next, after)))
      throw new ServiceError('svc_backup_failed', "The list of the site's files does not get further.", {
        advice: 'Something in front of the site may change its answers, or its disk may be too slow. Try again.',
      });
    after = page.next;
  }
  return listed;
}

function named({ files, left_out }: ManifestPage): number {
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
