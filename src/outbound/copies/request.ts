/** A request for the front page of a copy, as a web server would describe it to PHP. */

import type { CopyRequest } from './copies.js';

const SCRIPT = 'index.php';

/** @param root folder of the site, as PHP sees it */
export function serverVariables({ https, host, path, cookie }: CopyRequest, root: string): Record<string, string> {
  const port = /:(\d+)$/.exec(host)?.[1] ?? (https ? '443' : '80');
  return {
    ...{ SERVER_PROTOCOL: 'HTTP/1.1', SERVER_SOFTWARE: 'nginx', REQUEST_METHOD: 'GET' },
    ...{ REQUEST_URI: path, QUERY_STRING: queryOf(path), REMOTE_ADDR: '127.0.0.1', REMOTE_PORT: '40000' },
    ...{ SCRIPT_FILENAME: `${root}/${SCRIPT}`, SCRIPT_NAME: `${basePath(path)}${SCRIPT}`, DOCUMENT_ROOT: root },
    ...{ SERVER_NAME: host.replace(/:\d+$/, ''), SERVER_PORT: port, SERVER_ADDR: '127.0.0.1', HTTP_HOST: host },
    ...{ HTTP_ACCEPT: 'text/html,*/*', HTTP_ACCEPT_LANGUAGE: 'en', HTTP_COOKIE: cookie },
    HTTP_USER_AGENT: 'Mozilla/5.0 (Sitefleet)',
    ...(https ? { HTTPS: 'on', REQUEST_SCHEME: 'https' } : { REQUEST_SCHEME: 'http' }),
  };
}

/** Of a query that begins with "-" and has no "=", php-cgi would take its options, and leave out those that confine it. */
function queryOf(path: string): string {
  const query = path.split('?')[1] ?? '';
  return query === '' || query.includes('=') ? query : `${query}=`;
}

/** The folder of the front page, where a site is below its host's root. */
function basePath(path: string): string {
  return (path.split('?')[0] ?? '/').replace(/[^/]*$/, '') || '/';
}
