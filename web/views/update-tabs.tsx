/** The views of updates: the plan of all, the list by item, the rollouts, the policies, and the runs. */

import { Subtabs } from '../parts/subtabs.js';
import { t } from '../texts/texts.js';

export const VIEWS = [
  ['/updates/plan', 'plan'],
  ['/updates', 'items'],
  ['/rollouts', 'rollouts'],
  ['/policies', 'policies'],
  ['/runs', 'runs'],
] as const;

export function UpdateTabs({ at }: { at: (typeof VIEWS)[number][1] }) {
  return (
    <Subtabs
      label={t.nav.updates}
      at={at}
      tabs={VIEWS.map(([href, key]) => ({ key, href, word: t.updates.tab[key] }))}
    />
  );
}
