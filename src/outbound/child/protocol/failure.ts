import { parseUrl } from '../../../../schemas/url.js';
import { isMaintenancePage } from '../../maintenance-page.js';
import { ChildFailure, type FailureKind } from '../port.js';
import type { WireAnswer } from '../wire/exchange.js';
import { plainText, siteSays } from './text.js';
import { get } from './values.js';

/** Facts of an HTTP response from which a failure is derived. */
type AnswerFacts = Pick<WireAnswer, 'status' | 'location' | 'retryAfter' | 'body'>;

/** Enough of a response to recognize a maintenance page. */
const PAGE_BYTES = 32_768;

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_|EPROTO)/;
/** The two sides have no TLS version in common; no certificate was checked. */
const TLS_VERSION = /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS/;
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_ABORTED']);
/** This process closed the connections. */
const ENDED = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** Converts a socket, TLS or HTTP parser error to a ChildFailure. `sent` = the request had been sent. */
export function networkFailure(error: unknown, host: string, sent: boolean): ChildFailure {
  if (error instanceof ChildFailure) return error;
  const code = codeOf(error);
  const make = (kind: FailureKind, message: string, advice: string, adviceBeforeAdded?: string): ChildFailure =>
    new ChildFailure(kind, message, { advice, adviceBeforeAdded, mayHaveRun: sent, cause: error });
  if (TIMEOUTS.has(code))
    return make('timed_out', `${host} did not answer in time.`, 'Try again later, or raise the time limit.');
  if (TLS_CODE.test(code) && TLS_VERSION.test(code)) {
    return make(
      'tls',
      `${host} offers no TLS version that is allowed for it (${code}).`,
      "Update the site's TLS, or set this site's ssl_version to 0 (automatic): PUT /v2/sites/{id}/edit.",
      "Bring the site's TLS up to date, then add it again.",
    );
  }
  if (TLS_CODE.test(code)) {
    return make(
      'tls',
      `The TLS connection to ${host} failed (${code}).`,
      "Renew or correct the site's certificate, or disable certificate verification for this site if you accept the risk: ssl_verify in update-site-v1.",
      "Renew or correct the site's certificate, or, if you accept the risk, add the site with ssl_verify: false, which switches certificate verification off for it.",
    );
  }
  if (ENDED.has(code)) return make('cancelled', 'The call was ended because the service is stopping.', '');
  if (code === 'ECONNREFUSED')
    return make('unreachable', `${host} refuses connections.`, 'Check that the web server is running.');
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return make('too_large', `${host} sent too many HTTP headers.`, '');
  if (code.startsWith('HPE_'))
    return make('unreachable', `${host} does not answer in HTTP.`, 'Check the port in the site URL.');
  const what = CLOSED.has(code)
    ? 'closed the connection without an answer'
    : `cannot be reached (${code || 'unknown error'})`;
  return make('unreachable', `${host} ${what}.`, 'Check that the site is up, then try again.');
}

function codeOf(error: unknown): string {
  const own = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (typeof own === 'string') return own;
  // Several addresses were tried: the first one's reason is reported.
  if (error instanceof AggregateError) return error.errors.length > 0 ? codeOf(error.errors[0]) : '';
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}

/**
 * Why an HTTP response has no frame (child protocol §1, §2.3).
 * @param loginSent an HTTP user name and password were sent
 */
export function unframedFailure(answer: AnswerFacts, called: URL, loginSent = false): ChildFailure {
  const { status } = answer;
  const make = (
    kind: FailureKind,
    message: string,
    advice: string,
    mayHaveRun: boolean,
    adviceBeforeAdded?: string,
  ): ChildFailure => new ChildFailure(kind, message, { httpStatus: status, advice, adviceBeforeAdded, mayHaveRun });
  if (status >= 300 && status < 400) return redirectFailure(answer, called);
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
function redirectFailure(answer: AnswerFacts, called: URL): ChildFailure {
  const url = answer.location === '' ? null : parseUrl(answer.location, called.href);
  // Neither the query, which may contain tokens, nor our own endpoint belongs in a URL to save.
  const path = url?.pathname.replace(/wp-admin\/admin-ajax\.php$/, '');
  const target = url !== null && /^https?:$/.test(url.protocol) ? plainText(`${url.origin}${path}`, 300) : '';
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

/** Our sentence, then the site's words marked as such, if there are any. */
function sentences(ours: string, said: unknown): string {
  return `${ours} ${siteSays(said)}`.trim();
}

/** A code is one word; a sentence in its place is ignored. */
function codeWord(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return /^[\w.:-]{1,64}$/.test(text) ? text : '';
}
