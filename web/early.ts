/**
 * Runs before anything is painted: sets light or dark as chosen or as the system has it, and requests the session, so
 * that the answer is there when the page's script is loaded. Part of the document, which allows this script by its hash.
 */

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

window.askedSession = fetch('/session', { headers: { accept: 'application/json' }, cache: 'no-store' });
// Errors are handled by the code that awaits the answer.
window.askedSession.catch(() => undefined);
