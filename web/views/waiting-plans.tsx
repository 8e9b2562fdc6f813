/** Plans that were made and not started: what each comes to, and starting or discarding it once it was looked at. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Eye, Trash2, Waves } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Digest, PlanShown } from './plan-shown.js';
import { clock } from './rollout-states.js';
import { startPlan } from './start-rollout.js';

type Plan = paths['/updates/plans']['get']['responses'][200]['content']['application/json']['data'][number];

const LISTED = 10;

export function WaitingPlans() {
  const [open, setOpen] = useState<Plan | null>(null);
  const { data } = useLoad('rollouts:plans', (signal) =>
    answer(api.GET('/updates/plans', { params: { query: { per_page: LISTED } }, signal })),
  );
  if (data === undefined || data.total === 0) return null;
  return (
    <Card title={t.plans.title}>
      <ul class="log">
        {data.data.map((plan) => (
          <li key={plan.plan_id}>
            <span class="what">
              <strong>{t.plan.sum(plan.updates, plan.sites)}</strong>{' '}
              <span class="muted">
                {t.plans.waves(plan.waves.map(({ sites }) => number(sites)))} · {t.plans.by(t.who(plan.made_by))},{' '}
                <Time iso={plan.made_at} /> · {t.plans.until(clock(plan.expires_at))}
              </span>
            </span>
            <span class="row">
              <Button
                small
                icon={Eye}
                label={`${t.plans.look}: ${t.plan.sum(plan.updates, plan.sites)}`}
                onClick={() => setOpen(plan)}
              >
                {t.plans.look}
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {data.total > data.data.length && <p class="muted">{t.now.more(number(data.total - data.data.length))}</p>}
      {open !== null && <Look plan={open} close={() => setOpen(null)} />}
    </Card>
  );
}

function Look({ plan, close }: { plan: Plan; close: () => void }) {
  const write = useMayWrite();
  const { route } = useLocation();
  const { plan_id, updates, sites } = plan;
  const discard = async () => {
    await trying(
      async () => (await answer(api.DELETE('/updates/plans/{plan_id}', { params: { path: { plan_id } } }))).message,
    );
    refresh('rollouts:plans');
    close();
  };
  const go = async () => {
    const address = await startPlan(plan);
    if (address !== null) return route(address);
    close();
  };
  return (
    <Dialog
      wide
      title={t.waves.planTitle}
      onClose={close}
      actions={
        write && (
          <>
            <Button kind="danger" icon={Trash2} onClick={discard}>
              {t.plans.discard}
            </Button>
            <Button kind="main" icon={Waves} onClick={go}>
              {t.waves.start(updates, sites)}
            </Button>
          </>
        )
      }
    >
      <PlanShown plan={plan} />
      <p class="muted small">{t.plans.notKept}</p>
      <Digest of={plan.digest} />
    </Dialog>
  );
}
