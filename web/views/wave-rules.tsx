/** The rules of a rollout in a form: how sites are divided into waves, when it halts, and at which hours sites are changed. */

import { useState } from 'preact/hooks';
import type { paths } from '../api/schema.js';
import { Chips } from '../parts/chips.js';
import { Check, SelectField, TextField, useText } from '../parts/field.js';
import { OwnerPicker } from '../parts/owners.js';
import { listOf } from '../parts/query.js';
import { SitePicker, type SiteRef } from '../parts/site-picker.js';
import { t } from '../texts/texts.js';

/** A policy has all that a plan is told. */
type Rules = paths['/policies/{policy_id}']['get']['responses'][200]['content']['application/json']['data'];
type Waves = NonNullable<Rules['waves']>;
type Window = NonNullable<Rules['window']>;

const CHOICES = ['versions', 'newest_backup', 'least_traffic'] as const;
type Choice = (typeof CHOICES)[number];

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEK)[number];

/** All days are sent as none. */
export const sentDays = (days: readonly Weekday[]) => (days.length === WEEK.length ? [] : [...days]);
export const shownDays = (days: readonly Weekday[] = []) =>
  days.length === 0 ? WEEK : WEEK.filter((day) => days.includes(day));

export function useWaves(of: Waves = {}) {
  const canaries = useText(of.canaries === undefined ? '' : String(of.canaries));
  const [tags, setTags] = useState<readonly number[]>(of.canary_tag_ids ?? []);
  const [sites, setSites] = useState<readonly SiteRef[]>(of.canary_sites ?? []);
  const [choice, setChoice] = useState<Choice>(of.canary_choice ?? 'versions');
  const sizes = useText(of.sizes?.join(', ') ?? '');
  const soak = useText(String(of.soak_minutes ?? 60));
  const haltSites = useText(String(of.halt_sites ?? 3));
  const haltPercent = useText(String(of.halt_percent ?? 20));
  const [approve, setApprove] = useState(of.approve ?? false);
  return {
    ...{
      canaries,
      choice,
      setChoice,
      tags,
      setTags,
      sites,
      setSites,
      sizes,
      soak,
      haltSites,
      haltPercent,
      approve,
      setApprove,
    },
    body: (): Waves => ({
      ...(canaries.value === '' ? {} : { canaries: Number(canaries.value) }),
      ...(choice === 'versions' ? {} : { canary_choice: choice }),
      canary_tag_ids: [...tags],
      canary_sites: [...sites],
      sizes: listOf(sizes.value.replaceAll(/\s/g, '')).map(Number),
      soak_minutes: Number(soak.value),
      halt_sites: Number(haltSites.value),
      halt_percent: Number(haltPercent.value),
      approve,
    }),
  };
}

export function WaveFields({ of }: { of: ReturnType<typeof useWaves> }) {
  return (
    <>
      <div class="rules">
        <TextField
          label={t.waves.canaries}
          hint={t.waves.canariesHint}
          type="number"
          name="waves.canaries"
          {...of.canaries}
        />
        <TextField label={t.waves.sizes} hint={t.waves.sizesHint} name="waves.sizes" {...of.sizes} />
        <TextField label={t.waves.soak} type="number" name="waves.soak_minutes" required {...of.soak} />
        <TextField label={t.waves.haltSites} type="number" name="waves.halt_sites" required {...of.haltSites} />
        <TextField label={t.waves.haltPercent} type="number" name="waves.halt_percent" required {...of.haltPercent} />
      </div>
      <SelectField
        label={t.waves.canaryChoice}
        name="waves.canary_choice"
        value={of.choice}
        onChange={(value) => of.setChoice(CHOICES.find((one) => one === value) ?? 'versions')}
        options={CHOICES.map((choice) => [choice, t.waves.canaryChoices[choice]] as const)}
      />
      <OwnerPicker
        kind="tags"
        label={t.waves.canaryTag}
        any={t.sites.anyTag}
        chosen={of.tags}
        onChange={of.setTags}
        name="waves.canary_tag_ids"
      />
      <SitePicker<SiteRef>
        label={t.waves.canarySites}
        chosen={of.sites}
        onChange={of.setSites}
        name="waves.canary_sites"
      />
      <Check label={t.waves.approve} checked={of.approve} onChange={of.setApprove} />
    </>
  );
}

export function useWindow(of: Window | null = null) {
  const [on, setOn] = useState(of !== null);
  const [days, setDays] = useState<readonly Weekday[]>(shownDays(of?.days));
  const from = useText(of?.from ?? '02:00');
  const to = useText(of?.to ?? '04:00');
  return {
    ...{ on, setOn, days, setDays, from, to },
    body: (): Window | null => (on ? { days: sentDays(days), from: from.value, to: to.value } : null),
  };
}

export function WindowFields({ of }: { of: ReturnType<typeof useWindow> }) {
  return (
    <>
      <Check label={t.waves.window} checked={of.on} onChange={of.setOn} />
      {of.on && (
        <>
          <DayChips label={t.waves.days} chosen={of.days} choose={of.setDays} />
          <div class="rules">
            <TextField label={t.waves.from} type="time" required name="window" {...of.from} />
            <TextField label={t.waves.to} type="time" required {...of.to} />
          </div>
        </>
      )}
    </>
  );
}

interface DayProps {
  label: string;
  chosen: readonly Weekday[];
  choose: (days: readonly Weekday[]) => void;
}

/** Days of the week; the last one that is chosen stays. */
export function DayChips({ label, chosen, choose }: DayProps) {
  return <Chips labelled label={label} all={WEEK} chosen={chosen} word={(day) => t.waves.day[day]} choose={choose} />;
}
