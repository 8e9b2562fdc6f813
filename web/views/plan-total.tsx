/** What the ticks of the plan of updates come to, what was left out, and the button that applies the rest. */

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { useStore } from '../api/store.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { PackageCheck, ShieldOff, X } from '../parts/icons.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { type Choice, choice, EVERYTHING, keyOf, setItem, setSite } from './plan-choice.js';
import { type Filters, narrowed } from './plan-filters.js';
import type { Plan } from './plan-matrix.js';
import { InWaves } from './plan-waves.js';
import { startRun } from './starting-run.js';
import { REST_TYPE } from './update-item.js';
import { useUpdateSettings } from './update-settings.js';

/** Quick ticks are counted together. */
const COUNT_MS = 150;

/** The run of what is ticked. */
function bodyOf(filters: Filters, { items, sites }: Choice) {
  const left = [...items.values()].map(({ name: _, ...item }) => item);
  return {
    type: filters.types.map((type) => REST_TYPE[type]),
    ...narrowed(filters),
    ...(sites.size === 0 ? {} : { exclude: [...sites.keys()] }),
    ...(left.length === 0 ? {} : { exclude_items: left }),
  };
}

/** What is ticked, over all sites and items; what was left out; and the button. */
export function Total({
  plan,
  filters,
  stale,
}: {
  plan: Plan;
  filters: Filters /** The plan of other filters is shown still. */;
  stale: boolean;
}) {
  const left = useStore(choice);
  const write = useMayWrite();
  const settings = useUpdateSettings();
  const { route, url } = useLocation();
  const body = bodyOf(filters, left);
  const untouched = left.items.size + left.sites.size === 0;
  const counted = useCounted(body, untouched);
  const { updates, sites, unguarded } = untouched
    ? { updates: plan.totals.updates, sites: plan.totals.sites, unguarded: plan.totals.unguarded_sites }
    : {
        updates: counted.data?.would_affect?.total ?? plan.totals.updates,
        sites: counted.data?.would_affect?.sites ?? plan.totals.sites,
        unguarded: counted.data?.would_affect?.unguarded_sites ?? plan.totals.unguarded_sites,
      };
  // What the button says is what it does.
  const counting = untouched ? stale : counted.loading || counted.data === undefined;
  const everything = untouched && Object.keys(narrowed(filters)).length === 0;
  const go = () =>
    startRun((run_id) => answer(api.POST('/updates/update', { body: { ...body, run_id } })), {
      route,
      back: url,
      started: () => choice.set(EVERYTHING),
    });
  return (
    <div class="chosen sum">
      <div class="what" aria-live="polite">
        <strong>{t.plan.sum(updates, sites)}</strong>
        <span class="under small">
          {unguarded > 0 && (
            <span class="risk">
              <Icon of={ShieldOff} /> {t.plan.unguarded(unguarded)}
            </span>
          )}
          {plan.totals.quarantined > 0 && <span class="muted">{t.plan.quarantined(plan.totals.quarantined)}</span>}
        </span>
      </div>
      {!untouched && <LeftOut left={left} />}
      {write && !(everything && settings.hidesAll) && (
        <Button kind="main" icon={PackageCheck} disabled={counting || updates === 0} onClick={go}>
          {t.sites.updateCount(number(updates))}
        </Button>
      )}
      {write && <InWaves filters={filters} left={left} none={updates === 0} />}
      {counted.error !== undefined && !untouched && <p class="problem">{counted.error.message}</p>}
    </div>
  );
}

/** The service counts what the same call would do. */
function useCounted(body: ReturnType<typeof bodyOf>, untouched: boolean) {
  const key = JSON.stringify(body);
  const [settled, settle] = useState(key);
  useEffect(() => {
    const timer = setTimeout(() => settle(key), COUNT_MS);
    return () => clearTimeout(timer);
  }, [key]);
  const counted = useLoad(
    untouched ? null : `updates:count:${settled}`,
    (signal) =>
      answer(api.POST('/updates/update', { body: { ...(JSON.parse(settled) as typeof body), dry_run: true }, signal })),
    { keepShown: true },
  );
  return { ...counted, loading: counted.loading || settled !== key };
}

/** Each can be taken in again, wherever it is in the matrix. */
function LeftOut({ left: { items, sites } }: { left: Choice }) {
  const everywhere = [...items.values()].filter(({ site_id }) => site_id === undefined);
  const single = [...items.values()].filter(({ site_id }) => site_id !== undefined);
  const drop = (key: string, word: string, onClick: () => void) => (
    <li key={key}>
      <button type="button" class="chip" aria-label={t.plan.takeIn(word)} onClick={onClick}>
        {word} <Icon of={X} />
      </button>
    </li>
  );
  return (
    <div class="leftout">
      <span class="muted small">{t.plan.leftOut}</span>
      <ul class="chips">
        {everywhere.map((item) => drop(keyOf(item), item.name, () => setItem(item, true)))}
        {[...sites].map(([id, name]) => drop(String(id), name, () => setSite(id, name, true)))}
        {single.length > 0 &&
          drop('single', t.plan.single(single.length), () => {
            for (const item of single) setItem(item, true);
          })}
      </ul>
    </div>
  );
}
