/**
 * What is done before anything is painted: light or dark, as chosen or as the system has it, and asking who is logged in, so that
 * the answer is there when the page's script is. Loaded first and alone, because inline scripts are not allowed.
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
// Whoever takes the answer finds out what went wrong.
window.askedSession.catch(() => undefined);
