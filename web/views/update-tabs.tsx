/** The views of updates: the plan of all, the list by item, and the runs. */

import { t } from '../texts/texts.js';

const VIEWS = [
  ['/updates/plan', 'plan'],
  ['/updates', 'items'],
  ['/runs', 'runs'],
] as const;

export function UpdateTabs({ at }: { at: (typeof VIEWS)[number][1] }) {
  return (
    <nav class="subtabs" aria-label={t.nav.updates}>
      {VIEWS.map(([to, name]) => (
        <a key={to} href={to} aria-current={name === at ? 'page' : undefined}>
          {t.updates.tab[name]}
        </a>
      ))}
    </nav>
  );
}
