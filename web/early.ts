/**
 * Runs before anything is painted: sets light or dark as chosen or as the system has it, requests the session and what
 * this view read when it was last opened, so that the answers are there when the page's script is loaded, and has the
 * browser load what it formats numbers and dates with. Part of the document, which allows this script by its hash.
 */

import { firstReads, sendReads } from './api/first-reads.js';
import { askSession } from './api/kept-csrf.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

function chosen(): string | null {
  try {
    return localStorage.getItem('theme');
  } catch {
    return null;
  }
}

function apply(): void {
  const theme = chosen();
  document.documentElement.dataset.theme =
    theme === 'light' || theme === 'dark' ? theme : dark.matches ? 'dark' : 'light';
}

apply();
dark.addEventListener('change', apply);

window.askedSession = askSession();
const paths = firstReads();
if (paths.length > 0) window.askedReads = { paths, response: sendReads(paths) };
// Errors are handled by the code that awaits the answer.
window.askedSession.catch(() => undefined);
window.askedReads?.response.catch(() => undefined);

// The first formatter takes 20 ms, later ones one: it is made while the page's script is on its way, not when a view shows its
// first number.
Intl.NumberFormat();
