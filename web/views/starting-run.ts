/** Runs that this page has asked for and that may not have begun: their page waits for them. */

import { refresh } from '../api/load.js';
import { createStore } from '../api/store.js';
import { showFailure, showToast } from '../parts/toast.js';
import { runAddress } from './run-address.js';

export const starting = createStore<ReadonlySet<string>>(new Set());

/** A random id for a run. Not by `randomUUID`, which browsers offer on encrypted pages only. */
function newRunId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `run_${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
}

/**
 * Sends a call that makes a run, and goes to the page of the run at once; back, if it was refused.
 * @param started called once the service has done what was asked, or goes on with it
 */
export function startRun(
  send: (run_id: string) => Promise<{ message: string; run_id?: string | undefined }>,
  { route, back, started }: { route: (to: string, replace?: boolean) => void; back: string; started?: () => void },
): void {
  const id = newRunId();
  const here = () => location.pathname === runAddress(id);
  starting.set(new Set([...starting.get(), id]));
  const call = send(id);
  route(runAddress(id));
  call
    .then(
      ({ message, run_id }) => {
        started?.();
        // The page of the run says it in more detail.
        if (run_id !== id || !here()) showToast(message);
        // Another run is at work on these sites; or there was nothing to do.
        if (run_id !== id && here()) route(run_id === undefined ? back : runAddress(run_id), true);
      },
      (error: unknown) => {
        showFailure(error);
        if (here()) route(back, true);
      },
    )
    .finally(() => {
      starting.set(new Set([...starting.get()].filter((one) => one !== id)));
      refresh('run', 'updates:', 'now:', 'site:');
    });
}
