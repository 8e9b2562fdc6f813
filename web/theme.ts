/**
 * Light or dark, as chosen or as the system has it, set before anything is painted. Loaded first and alone, because inline scripts
 * are not allowed.
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
