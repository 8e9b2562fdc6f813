import { parseUrl } from '../../../../schemas/url.js';
import { isMaintenancePage } from '../../maintenance-page.js';
import { ChildFailure, type FailureKind } from '../failure.js';
import type { WireAnswer } from '../wire/exchange.js';
import { plainText, siteSays } from './text.js';
import { get } from './values.js';

/** Facts of an HTTP response from which a failure is derived. */
type AnswerFacts = Pick<WireAnswer, 'status' | 'location' | 'retryAfter' | 'body'>;

/** Enough of a response to recognize a maintenance page. */
const PAGE_BYTES = 32_768;

/**
 * Why an HTTP response has no frame (child protocol §1, §2.3).
 * @param loginSent an HTTP user name and password were sent
 * @param hide takes the secrets that were sent out of a text
 */
export function unframedFailure(
  answer: AnswerFacts,
  called: URL,
  loginSent = false,
  hide = (text: string) => text,
): ChildFailure {
  const { status } = answer;
  const make = (
    kind: FailureKind,
    message: string,
    advice: string,
    mayHaveRun: boolean,
    adviceBeforeAdded?: string,
  ): ChildFailure => new ChildFailure(kind, message, { httpStatus: status, advice, adviceBeforeAdded, mayHaveRun });
  if (status >= 300 && status < 400) return redirectFailure(answer, called, hide);
  if (status === 401) {
    return make(
      'http_auth',
      loginSent
        ? 'The site refused the HTTP user name and password.'
        : 'The site asks for an HTTP user name and password.',
      "Send the site's HTTP Basic login as http_user and http_pass: with update-site-v1, or with add-site-v1 for a new site.",
      false,
    );
  }
  if (status === 400 && answer.body.length <= 8 && answer.body.toString('latin1').trim() === '0') {
    return make(
      'plugin_missing',
      'The child plugin is not active on the site.',
      'Install and activate the MainWP Child plugin on the site, then reconnect it.',
      false,
      'Install and activate the MainWP Child plugin on the site, then add it again.',
    );
  }
  if (
    isMaintenancePage({
      status,
      retryAfter: answer.retryAfter ?? '',
      body: answer.body.toString('utf8', 0, PAGE_BYTES),
    })
  ) {
    return make(
      'maintenance',
      "The site shows WordPress' maintenance page. If it stays, an update was interrupted: delete the file .maintenance in the WordPress folder, or wait, as WordPress itself ignores it after 10 minutes.",
      'Try again in a minute.',
      false,
    );
  }
  if (status >= 500) {
    const advice =
      status === 503
        ? 'The site may be in maintenance or overloaded: try again later.'
        : "Look for a PHP fatal error in the site's log.";
    return make('unframed', `The site failed with HTTP ${status} and no answer from the child plugin.`, advice, true);
  }
  return make(
    'unframed',
    `The site answered HTTP ${status} without an answer from the child plugin.`,
    'A firewall, cache, maintenance or login page may be in front of it: allow requests to wp-admin/admin-ajax.php from this service.',
    true,
  );
}

/** A signed body is never posted to another host that a redirect names: the error names the other URL instead. */
function redirectFailure(answer: AnswerFacts, called: URL, hide: (text: string) => string): ChildFailure {
  const url = answer.location === '' ? null : parseUrl(answer.location, called.href);
  // Neither the query, which may contain tokens, nor our own endpoint belongs in a URL to save.
  const path = url?.pathname.replace(/wp-admin\/admin-ajax\.php$/, '');
  const target = url !== null && /^https?:$/.test(url.protocol) ? plainText(hide(`${url.origin}${path}`), 300) : '';
  return new ChildFailure('redirected', sentences('The site redirects instead of answering.', target), {
    httpStatus: answer.status,
    advice: "If the site has moved, change its URL with update-site-v1, but only to one you know is the site's own.",
    adviceBeforeAdded:
      'If the site has moved, add it with its new address, but only with one that you know to be its own.',
  });
}

/** Functions that have no code-less errors of their own: such an answer comes from the signature check. */
const ERRORS_MEAN_REFUSED = new Set([
  'stats',
  'disconnect',
  'deactivate',
  'check_abandoned',
  'security',
  'get_all_plugins',
  'get_all_themes',
  'get_all_posts',
  'get_all_pages',
  'get_all_comments',
  'get_all_users',
  'get_site_icon',
]);

/**
 * The failure in a decoded answer, null if there is none (child protocol §2.3). Texts are translated, so code and shape
 * decide: `PARSE_ERROR…` is always `refused`; an error without a code is `refused` for functions that have no code-less
 * errors of their own, and `child_error` for the others, which only a `probe` can distinguish. An `error` that is an
 * object (child protocol §6.3) is a verdict, not a failure.
 */
export function answerFailure(answer: unknown, fn: string): ChildFailure | null {
  const error = get(answer, 'error');
  if (typeof error !== 'string' || error === '') return null;
  const childCode = codeWord(get(answer, 'error_code'));
  if (childCode === 'child_plugin_incompatible') {
    return new ChildFailure('outdated', sentences('The child plugin does not know this request.', error), {
      childCode,
      advice: 'Update the MainWP Child plugin on the site.',
    });
  }
  const code = childCode || (/^PARSE_ERROR\d$/.test(error) ? error : '');
  if (code.startsWith('PARSE_ERROR') || (code === '' && ERRORS_MEAN_REFUSED.has(fn))) {
    return new ChildFailure('refused', sentences('The site does not accept our signature.', error), {
      childCode: code,
      advice: 'Reconnect the site. If that fails, clear the connection in the child plugin and add the site again.',
    });
  }
  return new ChildFailure('child_error', siteSays(error) || 'The child plugin reported an error without a message.', {
    childCode: code,
    advice: code === '' ? "Check the site's own log; if it no longer knows our key, reconnect it." : '',
    mayHaveRun: true,
  });
}

/** Where answers have words for people; `*` = every member. The code is shown as well. */
const WORDS = [
  ['error'],
  ['error_code'],
  ['upgrade'],
  ['upgrades_error', '*'],
  ['other_data', 'upgrade_error_codes'],
  ['other_data', 'upgrade_error_codes', '*'],
  ['other_data', 'updated_data', '*', 'error'],
];

/** The answer with its words for people changed by `change`; its data stay as they are. */
export function withWords(answer: unknown, change: (text: string) => string): unknown {
  return WORDS.reduce((value, path) => changed(value, path, change), answer);
}

function changed(value: unknown, [name, ...rest]: readonly string[], change: (text: string) => string): unknown {
  if (name === undefined && (typeof value === 'string' || typeof value === 'number')) {
    const text = change(String(value));
    return text === String(value) ? value : text;
  }
  if (name === undefined || typeof value !== 'object' || value === null) return value;
  const inner = (member: unknown) => changed(member, rest, change);
  if (name !== '*') return Object.hasOwn(value, name) ? { ...value, [name]: inner(get(value, name)) } : value;
  if (Array.isArray(value)) return value.map(inner);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inner(member)]));
}

/** Our sentence, then the site's words marked as such, if there are any. */
function sentences(ours: string, said: unknown): string {
  return `${ours} ${siteSays(said)}`.trim();
}

/** A code is one word; a sentence in its place is ignored. */
function codeWord(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return /^[\w.:-]{1,64}$/.test(text) ? text : '';
}
