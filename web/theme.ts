/** Sets the chosen colours before anything is painted. Loaded first and alone, because inline scripts are not allowed. */

try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is refused: the colours follow the system.
}
