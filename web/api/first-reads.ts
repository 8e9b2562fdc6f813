/**
 * Addresses that each view read first when it was last opened in this browser, so that the next time they are requested
 * with the document instead of after its script.
 */

declare global {
  interface Window {
    /** The request that `early.ts` sent before the page's script was loaded. */
    askedReads?: { paths: readonly string[]; response: Promise<Response> } | undefined;
  }
}

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
  return stored()[view] ?? [];
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
