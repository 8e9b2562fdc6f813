/** The form of a policy, and its preview, from which it is saved: nothing is saved unseen. */

import { useContext, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { Button } from '../parts/button.js';
import { Chips } from '../parts/chips.js';
import { Check, SelectField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { CurrentForm } from '../parts/form-state.js';
import { CalendarCheck } from '../parts/icons.js';
import { OwnerPicker } from '../parts/owners.js';
import { Card } from '../parts/page.js';
import { SitePicker, type SiteRef } from '../parts/site-picker.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { LEVELS } from './plan-filters.js';
import { policyAddress } from './policies.js';
import { PolicyPreview, type Preview } from './policy-preview.js';
import {
  DayChips,
  sentDays,
  shownDays,
  useWaves,
  useWindow,
  WaveFields,
  type Weekday,
  WindowFields,
} from './wave-rules.js';

/** Every member is always told. */
export type Stored = Required<
  paths['/policies/{policy_id}']['get']['responses'][200]['content']['application/json']['data']
>;
type Body = ReturnType<ReturnType<typeof useFields>['body']>;

const TYPES = ['plugins', 'themes', 'translations', 'core'] as const;

/** Names of a list as they are typed: between commas. */
const typed = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** The state of every field, and what they say together. */
function useFields(of?: Stored) {
  const name = useText(of?.name ?? '');
  const [enabled, setEnabled] = useState(of?.enabled ?? true);
  const [types, setTypes] = useState<readonly (typeof TYPES)[number][]>(
    of === undefined ? ['plugins', 'themes', 'translations'] : of.types.length === 0 ? TYPES : of.types,
  );
  const [levels, setLevels] = useState<readonly (typeof LEVELS)[number][]>(
    of === undefined || of.level.length === 0 ? LEVELS : of.level,
  );
  const slugs = useText(of?.slugs.join(', ') ?? '');
  const without = useText(of?.exclude_slugs.join(', ') ?? '');
  const age = useText(String(of?.minimum_age_days ?? 0));
  const [atOnce, setAtOnce] = useState(of?.vulnerable_at_once ?? true);
  const [onlyFixes, setOnlyFixes] = useState(of?.only_vulnerable ?? false);
  const [tags, setTags] = useState<readonly number[]>(of?.tag_ids ?? []);
  const [clients, setClients] = useState<readonly number[]>(of?.client_ids ?? []);
  const [sites, setSites] = useState<readonly SiteRef[]>(of?.site_ids_or_domains ?? []);
  const at = useText(of?.schedule.at ?? '03:00');
  const [days, setDays] = useState<readonly Weekday[]>(shownDays(of?.schedule.days));
  const [approval, setApproval] = useState<Stored['approval']>(of?.approval ?? 'ask');
  const waves = useWaves(of?.waves);
  const window = useWindow(of?.window);
  const body = () => ({
    name: name.value,
    enabled,
    // All are sent as none: then what is of unknown size is in, too.
    types: types.length === TYPES.length ? [] : [...types],
    level: levels.length === LEVELS.length ? [] : [...levels],
    slugs: typed(slugs.value),
    exclude_slugs: typed(without.value),
    minimum_age_days: Number(age.value),
    vulnerable_at_once: atOnce,
    only_vulnerable: onlyFixes,
    tag_ids: [...tags],
    client_ids: [...clients],
    site_ids_or_domains: [...sites],
    schedule: { at: at.value, days: sentDays(days) },
    window: window.body(),
    waves: waves.body(),
    approval,
  });
  return {
    ...{ name, enabled, setEnabled, types, setTypes, levels, setLevels, slugs, without, age, atOnce, setAtOnce },
    ...{ onlyFixes, setOnlyFixes, tags, setTags, clients, setClients, sites, setSites, at, days, setDays },
    ...{ approval, setApproval, waves, window, body },
  };
}
type Fields = ReturnType<typeof useFields>;

/** @param of the policy that is changed; absent = a new one */
export function PolicyForm({ of }: { of?: Stored & { policy_id: number } }) {
  const { route } = useLocation();
  const fields = useFields(of);
  const [draft, setDraft] = useState<{ body: Body; preview: Preview } | null>(null);
  const back = of === undefined ? '/policies' : policyAddress(of.policy_id);
  const look = async () => {
    const body = fields.body();
    const { data } = await answer(api.POST('/policies/preview', { body }));
    setDraft({ body, preview: data });
    scrollTo(0, 0);
  };
  const save = async (body: Body) => {
    await trying(async () => {
      const { message, data } =
        of === undefined
          ? await answer(api.POST('/policies', { body }))
          : await answer(api.PATCH('/policies/{policy_id}', { params: { path: { policy_id: of.policy_id } }, body }));
      refresh('policies:', 'policy:', 'approvals:');
      route(policyAddress(data.policy_id ?? 0));
      return message;
    });
  };
  if (draft === null)
    return (
      <div class="policy">
        <Form onSubmit={look}>
          <What of={fields} />
          <Where of={fields} />
          <When of={fields} />
          <Waves of={fields} shown={of !== undefined} />
          <Card title={t.policies.approval}>
            <SelectField
              label={t.policies.start}
              hint={t.policies.startText[fields.approval]}
              name="approval"
              value={fields.approval}
              onChange={(next) => fields.setApproval(next === 'auto' ? 'auto' : 'ask')}
              options={(['ask', 'auto'] as const).map((one) => [one, t.policies.startWord[one]] as const)}
            />
            <Check label={t.policies.enabled} checked={fields.enabled} onChange={fields.setEnabled} />
          </Card>
          <FormEnd send={t.policies.preview} cancel={() => route(back)} />
        </Form>
      </div>
    );
  return (
    <>
      <p class="note small">{t.policies.notSaved}</p>
      <Card title={draft.body.name}>
        <p>{draft.preview.summary}</p>
      </Card>
      <PolicyPreview of={draft.preview} />
      <div class="steer" role="toolbar" aria-label={t.policies.one}>
        <Button onClick={() => setDraft(null)}>{t.waves.back}</Button>
        <Button kind="main" icon={CalendarCheck} onClick={() => save(draft.body)}>
          {of === undefined ? t.policies.create : t.policies.save}
        </Button>
      </div>
    </>
  );
}

function What({ of }: { of: Fields }) {
  return (
    <Card title={t.policies.what}>
      <TextField label={t.policies.name} name="name" required {...of.name} />
      <Chips
        labelled
        label={t.updates.kind}
        all={TYPES}
        chosen={of.types}
        word={(type) => t.policies.type[type]}
        choose={of.setTypes}
      />
      <Chips
        labelled
        label={t.updates.level}
        all={LEVELS}
        chosen={of.levels}
        word={(level) => t.level[level]}
        choose={of.setLevels}
      />
      {of.levels.length < LEVELS.length && <p class="hint">{t.policies.levelHint}</p>}
      <div class="rules">
        <TextField label={t.policies.slugs} hint={t.policies.slugsHint} name="slugs" {...of.slugs} />
        <TextField label={t.policies.without} name="exclude_slugs" {...of.without} />
      </div>
      <div class="rules">
        <TextField
          label={t.policies.age}
          hint={t.policies.ageHint}
          type="number"
          required
          name="minimum_age_days"
          {...of.age}
        />
      </div>
      {Number(of.age.value) > 0 && <Check label={t.policies.atOnce} checked={of.atOnce} onChange={of.setAtOnce} />}
      <Check label={t.policies.onlyFixes} checked={of.onlyFixes} onChange={of.setOnlyFixes} />
    </Card>
  );
}

function Where({ of }: { of: Fields }) {
  return (
    <Card title={t.policies.where}>
      <p class="hint">{t.policies.whereHint}</p>
      <OwnerPicker
        kind="tags"
        label={t.policies.tags}
        any={t.sites.anyTag}
        chosen={of.tags}
        onChange={of.setTags}
        name="tag_ids"
      />
      <OwnerPicker
        kind="clients"
        label={t.policies.clients}
        any={t.sites.anyClient}
        chosen={of.clients}
        onChange={of.setClients}
        name="client_ids"
      />
      <SitePicker<SiteRef>
        label={t.policies.sites}
        chosen={of.sites}
        onChange={of.setSites}
        name="site_ids_or_domains"
      />
    </Card>
  );
}

function When({ of }: { of: Fields }) {
  return (
    <Card title={t.policies.when}>
      <DayChips label={t.policies.days} chosen={of.days} choose={of.setDays} />
      <div class="rules">
        <TextField label={t.policies.at} hint={t.policies.atHint} type="time" required name="schedule.at" {...of.at} />
      </div>
      <WindowFields of={of.window} />
    </Card>
  );
}

/** Folded in a new one: the usual rules do for most. */
function Waves({ of, shown }: { of: Fields; shown: boolean }) {
  const { refused } = useContext(CurrentForm);
  const wrong = Object.keys(refused?.reasons ?? {}).some((name) => name.startsWith('waves'));
  return (
    <Card title={t.policies.waves}>
      <p class="hint">{t.waves.about}</p>
      <details open={wrong || shown}>
        <summary>{t.policies.wavesOpen}</summary>
        <div class="inner">
          <WaveFields of={of.waves} />
        </div>
      </details>
    </Card>
  );
}
