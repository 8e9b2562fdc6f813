/** Finds a reason other than the backup why a page of a restored copy may fail, such as a missing PHP extension. */

import { siteWords } from '../../../schemas/site-text.js';
import type { CopyAnswer, SiteCopy } from '../../outbound/copies/copies.js';

/** A function or class that PHP did not find, and the extension that has it. */
const MISSING: readonly (readonly [RegExp, string])[] = [
  [/^(image|gd_)/, 'gd'],
  [/^(mb_)/, 'mbstring'],
  [/^curl_/, 'curl'],
  [/^(simplexml_|simplexmlelement)/, 'simplexml'],
  [/^(dom(document|xpath|element|node)\b)/, 'dom'],
  [/^xml_/, 'xml'],
  [/^(xmlreader)/, 'xmlreader'],
  [/^(xmlwriter)/, 'xmlwriter'],
  [/^(intl|normalizer|numberformatter|collator|transliterator|locale)/, 'intl'],
  [/^bc[a-z]+$/, 'bcmath'],
  [/^gmp_/, 'gmp'],
  [/^(zip_|ziparchive)/, 'zip'],
  [/^imagick/, 'imagick'],
  [/^(soap)/, 'soap'],
  [/^sodium_/, 'sodium'],
  [/^iconv/, 'iconv'],
  [/^exif_/, 'exif'],
  [/^(apcu_)/, 'apcu'],
];

/**
 * Why a page may differ that has nothing to do with the backup: PHP here lacks what the site's has, or is another one. Null =
 * nothing of that kind is known.
 */
export function otherCause(
  page: CopyAnswer | null,
  here: Pick<SiteCopy, 'means' | 'php' | 'has'>,
  sitePhp: string,
): string | null {
  if (here.means === 'playground')
    return 'the copy ran in WordPress Playground, which has another PHP and SQLite in place of MariaDB';
  const error = page?.errors.at(-1) ?? '';
  const missing = /(?:undefined function|[Cc]lass "?) ?\\?([\w\\]+)/.exec(error)?.[1]?.toLowerCase();
  if (missing !== undefined) {
    const extension = MISSING.find(([name]) => name.test(missing))?.[1];
    if (extension !== undefined && !here.has(extension)) return `PHP here has no extension ${extension}`;
    if (isDisabled(missing)) return `the site uses ${missing}, which is switched off in copies`;
  }
  const [ours, theirs] = [here.php, sitePhp].map((version) => version.split('.').slice(0, 2).join('.'));
  return ours === theirs
    ? null
    : `the site has PHP ${sitePhp === '' ? 'of unknown version' : siteWords(sitePhp, 20)}, here it is ${here.php}`;
}

function isDisabled(name: string): boolean {
  return /^(exec|passthru|shell_exec|system|popen|proc_\w+|putenv|dl|link|symlink|pcntl_\w+|posix_\w+)$/.test(name);
}
