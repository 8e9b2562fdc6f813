/** Goes to the part of a view that the address names: unfolds it, brings it into view, and gives it the focus. */

import { useEffect } from 'preact/hooks';

/**
 * @param at id of a card; behind a dot, id of what is in it. Either may come when it is loaded
 * @param arrived forgets the address, so that it can be gone to again
 */
export function useArrival(at: string | undefined, arrived: () => void): void {
  useEffect(() => {
    if (at === undefined) return;
    const [card = '', inside = card] = at.split('.');
    go(card);
    if (go(inside)) return arrived();
    const main = document.getElementById('main');
    if (main === null) return;
    const watch = new MutationObserver(() => {
      if (!go(inside)) return;
      watch.disconnect();
      arrived();
    });
    watch.observe(main, { childList: true, subtree: true });
    return () => watch.disconnect();
  }, [at]);
}

const FOCUSABLE = 'h2[tabindex], input, select, textarea';

/** False when there is no such part, or not yet. */
function go(id: string): boolean {
  const part = document.getElementById(id);
  if (part === null) return false;
  for (let fold = part.closest('details'); fold !== null; fold = fold.parentElement?.closest('details') ?? null)
    fold.open = true;
  part.scrollIntoView({ block: 'center' });
  part.querySelector<HTMLElement>(FOCUSABLE)?.focus({ preventScroll: true });
  return true;
}
