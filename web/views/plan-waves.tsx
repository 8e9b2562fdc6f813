/** Applying what is ticked in waves: the rules, the plan as the service answers it, and the start with its digest. */

import { Waves } from 'lucide';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check, SelectField, TextField, useText } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { OwnerField } from '../parts/owners.js';
import { number } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { type Choice, choice, EVERYTHING } from './plan-choice.js';
import { type Filters, narrowed } from './plan-filters.js';
import { rolloutAddress, WAVE } from './rollout-states.js';
import { bareSlug } from './run-states.js';
import { REST_TYPE } from './update-item.js';

/** What a plan is narrowed to here. */
interface Body {
  types: string[];
  level?: Filters['levels'];
  client_ids?: number[];
  tag_ids?: number[];
  exclude_slugs?: string[];
}
type Planned = paths['/updates/plans']['post']['responses'][200]['content']['application/json']['plan'];

/** What is ticked, as a plan takes it; or why it cannot be said to a plan, which must never have more than is ticked. */
function choiceOf(filters: Filters, { items, sites }: Choice): { body: Body } | { reason: string } {
  const left = [...items.values()];
  const { search, exclude_tag_ids, ...shared } = narrowed(filters);
  if (search !== undefined) return { reason: t.waves.cannot.search };
  if (exclude_tag_ids !== undefined) return { reason: t.waves.cannot.without };
  if (sites.size > 0) return { reason: t.waves.cannot.sites };
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

const DAYS = { all: [], week: ['mon', 'tue', 'wed', 'thu', 'fri'], end: ['sat', 'sun'] } as const;

function PlanInWaves({ body, close }: { body: Body; close: () => void }) {
  const { route } = useLocation();
  const canaries = useText();
  const [tag, setTag] = useState('');
  const soak = useText('60');
  const haltSites = useText('3');
  const haltPercent = useText('20');
  const [approve, setApprove] = useState(false);
  const [windowed, setWindowed] = useState(false);
  const [days, setDays] = useState<keyof typeof DAYS>('all');
  const from = useText('02:00');
  const to = useText('04:00');
  const [plan, setPlan] = useState<Planned | null>(null);

  const ask = async () => {
    const waves = {
      ...(canaries.value === '' ? {} : { canaries: Number(canaries.value) }),
      ...(tag === '' ? {} : { canary_tag_ids: [Number(tag)] }),
      soak_minutes: Number(soak.value),
      halt_sites: Number(haltSites.value),
      halt_percent: Number(haltPercent.value),
      approve,
    };
    const window = { days: [...DAYS[days]], from: from.value, to: to.value };
    const asked = { ...body, waves, ...(windowed ? { window } : {}), per_page: 1 };
    setPlan((await answer(api.POST('/updates/plans', { body: asked }))).plan);
  };
  const start = async ({ plan_id, digest }: Planned) => {
    const started = await trying(async () => {
      const { message, rollout_id } = await answer(api.POST('/rollouts', { body: { plan_id, digest } }));
      choice.set(EVERYTHING);
      refresh('rollouts:', 'now:', 'updates:');
      if (rollout_id !== undefined) route(rolloutAddress(rollout_id));
      return message;
    });
    // A plan that has lapsed, or a change that needs an approval: it is asked for again.
    if (!started) setPlan(null);
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
        <Shown plan={plan} />
      </Dialog>
    );
  const count = (label: string, text: ReturnType<typeof useText>, name: string, required = true, hint?: string) => (
    <TextField
      label={label}
      type="number"
      name={name}
      required={required}
      {...(hint === undefined ? {} : { hint })}
      {...text}
    />
  );
  return (
    <Dialog wide title={t.waves.title} onClose={close}>
      <Form onSubmit={ask}>
        <p>{t.waves.about}</p>
        <div class="rules">
          {count(t.waves.canaries, canaries, 'waves.canaries', false, t.waves.canariesHint)}
          <OwnerField
            kind="tags"
            label={t.waves.canaryTag}
            any={t.sites.anyTag}
            value={tag}
            onChange={setTag}
            name="waves.canary_tag_ids"
          />
          {count(t.waves.soak, soak, 'waves.soak_minutes')}
          {count(t.waves.haltSites, haltSites, 'waves.halt_sites')}
          {count(t.waves.haltPercent, haltPercent, 'waves.halt_percent')}
        </div>
        <Check label={t.waves.approve} checked={approve} onChange={setApprove} />
        <Check label={t.waves.window} checked={windowed} onChange={setWindowed} />
        {windowed && (
          <div class="rules">
            <SelectField
              label={t.waves.days}
              value={days}
              onChange={(next) => setDays(next as keyof typeof DAYS)}
              options={(['all', 'week', 'end'] as const).map((one) => [one, t.waves.dayWords[one]] as const)}
            />
            <TextField label={t.waves.from} type="time" required name="window" {...from} />
            <TextField label={t.waves.to} type="time" required {...to} />
          </div>
        )}
        <div class="row end">
          <Button onClick={close}>{t.cancel}</Button>
          <Button kind="main" type="submit">
            {t.waves.show}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** The plan as the service answers it: nothing has been done. */
function Shown({ plan: { summary, waves, by_item, more_items, risks, left_out } }: { plan: Planned }) {
  return (
    <div class="waves-plan">
      <p>{summary}</p>
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
