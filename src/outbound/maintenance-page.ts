/** Recognizes the page that WordPress shows while it updates itself, in any language. */

/** The parts of a response that are examined. */
export interface PageAnswer {
  status: number;
  /** `Retry-After` header, '' if absent. */
  retryAfter: string;
  /** First bytes of the body as text. */
  body: string;
}

/** The sentence of an English WordPress, or of one whose translation is not installed. */
const SENTENCE = /briefly unavailable for scheduled maintenance/i;
/** What `wp_maintenance()` sends. An overloaded server sends other values. */
const RETRY_AFTER = '600';
/** The body of every page made by `wp_die()`. No visitor can write it: WordPress lets comments contain few tags. */
export const WP_DIE = /<body\b[^<>]*\bid=["']error-page["']/i;
const HTML_PAGE = /<(?:!doctype|html|body)\b/i;
/**
 * WordPress' own page has 3,000 characters. A longer page that contains the sentence and is not a 503, or one that
 * `wp_die()` has not made, is an article about it, or has a comment of a visitor.
 */
const LONGEST_PAGE = 10_000;

/**
 * Whether this is the page of `wp_maintenance()`. Its sentence is translated, so other signs decide: 503 with
 * `Retry-After: 600` and a page of `wp_die()`, or the bare sentence that callers of admin-ajax.php get. The English
 * sentence suffices alone: caches and proxies drop the header and change the status.
 */
export function isMaintenancePage({ status, retryAfter, body }: PageAnswer): boolean {
  const isOwn = () => WP_DIE.test(body) || !HTML_PAGE.test(body);
  if (SENTENCE.test(body) && (status === 503 || (body.length <= LONGEST_PAGE && isOwn()))) return true;
  if (status !== 503 || retryAfter.trim() !== RETRY_AFTER || body.trim() === '') return false;
  return isOwn();
}
