/** A plan of updates: its waves, what is updated, the risks, and what is left out. */

import type { paths } from '../api/schema.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { WAVE } from './rollout-states.js';
import { bareSlug } from './run-states.js';

type Planned = paths['/updates/plans']['post']['responses'][200]['content']['application/json']['plan'];
/** Of one that waits, the risks and what was left out are not kept. */
type Shown = Pick<Planned, 'summary' | 'waves' | 'more_items'> & {
  by_item: readonly Omit<Planned['by_item'][number], 'age_days'>[];
} & { [K in 'risks' | 'left_out']?: Planned[K] };

/** The plan as the service answers it: nothing has been done. */
export function PlanShown({ plan }: { plan: Shown }) {
  const { summary, waves, by_item, more_items, risks = [], left_out = [] } = plan;
  return (
    <div class="waves-plan">
      {waves.length > 0 && (
        <ol class="tallies">
          {waves.map(({ wave, sites, updates }) => (
            <li key={wave} class={`tally ${WAVE.waiting.tone}`}>
              <strong>{t.rollouts.waveTitle(wave, sites)}</strong>
              <span>{t.waves.updates(updates)}</span>
            </li>
          ))}
        </ol>
      )}
      <p class={waves.length > 0 ? 'muted' : ''}>{summary}</p>
      {risks.length > 0 && (
        <>
          <h3>{t.waves.risks}</h3>
          <ul class="lines">
            {risks.map(({ risk, updates, sites }) => (
              <li key={risk}>
                {t.waves.risk[risk]} <span class="muted">{t.plan.sum(updates, sites)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {by_item.length > 0 && (
        <>
          <h3>{t.waves.items}</h3>
          <ul class="lines">
            {by_item.map(({ type, slug, new_version, sites }) => (
              <li key={`${type} ${slug} ${new_version}`}>
                {bareSlug(slug)} {new_version} <span class="muted">{t.updates.onSites(sites)}</span>
              </li>
            ))}
          </ul>
          {more_items > 0 && <p class="muted">{t.now.more(number(more_items))}</p>}
        </>
      )}
      {left_out.length > 0 && (
        <>
          <h3>{t.waves.leftOut}</h3>
          <ul class="lines">
            {left_out.map(({ reason, updates, sites }) => (
              <li key={reason}>
                {t.waves.reason(reason)} <span class="muted">{t.waves.leftCount(updates, sites)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** What binds a start to what was shown. */
export function Digest({ of }: { of: string }) {
  return (
    <p class="muted small">
      {t.waves.digest} <code>{of}</code>
    </p>
  );
}
