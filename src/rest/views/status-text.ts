/** HTTP statuses as the REST interface spells them. */

/** Statuses that a front page usually returns. */
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  410: 'Gone',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** `200 - OK`; null when the site was never visited, `0` when it did not answer. */
export function statusText(status: number | null): string | null {
  if (status === null) return null;
  const words = STATUS_WORDS[status];
  return words === undefined ? String(status) : `${status} - ${words}`;
}
