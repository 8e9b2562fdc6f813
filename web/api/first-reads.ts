/**
 * Addresses that a view reads first: those it read when it was last opened in this browser, else those of the views that
 * people open first. They are requested with the document instead of after its script.
 */

declare global {
  interface Window {
    /** The request that `early.ts` sent before the page's script was loaded. */
    askedReads?: { paths: readonly string[]; response: Promise<Response> } | undefined;
  }
}

/** Those of the bar at the top. */
const OF_EVERY_VIEW = ['/v2/approvals?state=waiting&per_page=1', '/v2/jobs?open=true&per_page=5'];
/** Those below them, as long as nothing was chosen there. A view that reads others only asks for these in vain. */
const OF_VIEWS: Readonly<Record<string, readonly string[]>> = {
  '/': [
    '/v2/settings/monitoring',
    '/v2/rollouts?per_page=20',
    '/v2/fleet/attention/aside?per_page=20',
    '/v2/monitors?orderby=downtime_24h&order=desc&per_page=12&_fields=id,name,url,uptime_24h,uptime_ratio_24h,last_check_at',
    '/v2/fleet/days?days=30',
    '/v2/fleet/sites?php_below=8.1&columns=id&per_page=1',
    '/v2/fleet/sites?status=connected&columns=id&per_page=1',
    '/v2/fleet/sites?status=connected&columns=id&per_page=1&guarded=true',
    '/v2/jobs?per_page=5',
    '/v2/fleet/attention?cases=6',
  ],
  '/sites': [
    '/v2/clients?per_page=100',
    '/v2/tags?per_page=100',
    '/v2/fleet/sites?status=any&orderby=name&order=asc&columns=id,name,url,state,updates,monitor,wp,php,client,last_sync&page=1&per_page=50',
  ],
  '/updates': ['/v2/quarantine?per_page=50', '/v2/fleet/updates?page=1&per_page=50'],
  '/monitors': [
    '/v2/settings/monitoring',
    '/v2/alerts?per_page=20',
    '/v2/monitors?orderby=state&order=asc&page=1&per_page=50',
  ],
  '/clients': ['/v2/clients?page=1&per_page=50'],
  '/rollouts': ['/v2/updates/plans?per_page=10', '/v2/rollouts?page=1&per_page=20'],
};

const KEY = 'reads';
/** Views that are remembered. */
const MOST = 20;
const view = location.pathname + location.search;

function stored(): Record<string, string[]> {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? 'null') ?? {}) as Record<string, string[]>;
  } catch {
    return {};
  }
}

/** Those of the view that the document was opened with. */
export function firstReads(): readonly string[] {
  const { [view]: own = [] } = OF_VIEWS;
  return stored()[view] ?? (own.length > 0 ? [...OF_EVERY_VIEW, ...own] : []);
}

export function rememberReads(paths: readonly string[]): void {
  const { [view]: _, ...others } = stored();
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify(Object.fromEntries([[view, paths], ...Object.entries(others)].slice(0, MOST))),
    );
  } catch {
    // Without storage they are requested later.
  }
}

export function sendReads(paths: readonly string[], signal?: AbortSignal): Promise<Response> {
  return fetch('/session/reads', {
    method: 'POST',
    headers: { accept: 'application/x-ndjson', 'content-type': 'application/json' },
    body: JSON.stringify({ paths }),
    ...(signal === undefined ? {} : { signal }),
  });
}
