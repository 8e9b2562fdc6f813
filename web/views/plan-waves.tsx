/** Applying what is ticked in waves: the rules, the plan as the service answers it, and the start with its digest. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Form, FormEnd } from '../parts/form.js';
import { Waves } from '../parts/icons.js';
import { t } from '../texts/texts.js';
import { type Choice, choice, EVERYTHING } from './plan-choice.js';
import { type Filters, narrowed } from './plan-filters.js';
import { Digest, PlanShown } from './plan-shown.js';
import { startPlan } from './start-rollout.js';
import { REST_TYPE } from './update-item.js';
import { useWaves, useWindow, WaveFields, WindowFields } from './wave-rules.js';

/** What a plan is narrowed to here. */
interface Body {
  types: string[];
  level?: Filters['levels'];
  client_ids?: number[];
  tag_ids?: number[];
  exclude_slugs?: string[];
  exclude_tag_ids?: number[];
  exclude_sites?: number[];
}
type Planned = paths['/updates/plans']['post']['responses'][200]['content']['application/json']['plan'];

/** What is ticked, as a plan takes it; or why it cannot be said to a plan, which must never have more than is ticked. */
function choiceOf(filters: Filters, { items, sites }: Choice): { body: Body } | { reason: string } {
  const left = [...items.values()];
  const { search, ...shared } = narrowed(filters);
  if (search !== undefined) return { reason: t.waves.cannot.search };
  if (left.some(({ site_id }) => site_id !== undefined)) return { reason: t.waves.cannot.single };
  const types = filters.types.filter((type) => type !== 'core' || !left.some((item) => item.type === 'core'));
  // None would mean all.
  if (types.length === 0) return { reason: t.waves.cannot.nothing };
  const slugs = left.filter(({ type }) => type !== 'core').map(({ slug }) => slug);
  return {
    body: {
      types: types.map((type) => (type === 'core' ? type : REST_TYPE[type])),
      ...shared,
      ...(slugs.length === 0 ? {} : { exclude_slugs: slugs }),
      ...(sites.size === 0 ? {} : { exclude_sites: [...sites.keys()] }),
    },
  };
}

/** The second way to apply what is ticked. */
export function InWaves({ filters, left, none }: { filters: Filters; left: Choice; none: boolean }) {
  const [open, setOpen] = useState(false);
  const chosen = choiceOf(filters, left);
  const reason = 'reason' in chosen ? chosen.reason : '';
  return (
    <>
      <Button icon={Waves} disabled={none || reason !== ''} onClick={() => setOpen(true)}>
        {t.waves.open}
      </Button>
      {reason !== '' && !none && <p class="muted small waves-not">{reason}</p>}
      {open && 'body' in chosen && <PlanInWaves body={chosen.body} close={() => setOpen(false)} />}
    </>
  );
}

function PlanInWaves({ body, close }: { body: Body; close: () => void }) {
  const { route } = useLocation();
  const waves = useWaves();
  const window = useWindow();
  const [plan, setPlan] = useState<Planned | null>(null);

  const ask = async () => {
    const hours = window.body();
    const asked = { ...body, waves: waves.body(), ...(hours === null ? {} : { window: hours }), per_page: 1 };
    setPlan((await answer(api.POST('/updates/plans', { body: asked }))).plan);
    refresh('rollouts:plans');
  };
  const start = async (shown: Planned) => {
    const address = await startPlan(shown);
    // A plan that has lapsed, or a change that needs an approval: it is asked for again.
    if (address === null) return setPlan(null);
    choice.set(EVERYTHING);
    route(address);
  };

  if (plan !== null)
    return (
      <Dialog
        wide
        title={t.waves.planTitle}
        onClose={close}
        actions={
          <>
            <Button onClick={() => setPlan(null)}>{t.waves.back}</Button>
            <Button kind="main" icon={Waves} disabled={plan.updates === 0} onClick={() => start(plan)}>
              {t.waves.start(plan.updates, plan.sites)}
            </Button>
          </>
        }
      >
        <PlanShown plan={plan} />
        <Digest of={plan.digest} />
      </Dialog>
    );
  return (
    <Dialog wide title={t.waves.title} onClose={close}>
      <Form onSubmit={ask}>
        <p>{t.waves.about}</p>
        <WaveFields of={waves} />
        <WindowFields of={window} />
        <FormEnd send={t.waves.show} cancel={close} />
      </Form>
    </Dialog>
  );
}
