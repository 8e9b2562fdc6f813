/** The form of a recipient of alerts: the channel, which alerts it gets and when, and a test before anything is saved. */

import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { Button } from '../parts/button.js';
import { Check, SelectField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Send } from '../parts/icons.js';
import { SitePicker } from '../parts/site-picker.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';

export type StoredRecipient =
  paths['/alerts/recipients']['get']['responses'][200]['content']['application/json']['data'][number];

const TYPES = ['webhook', 'slack', 'discord', 'teams', 'telegram', 'ntfy'] as const;
type Type = (typeof TYPES)[number];

/** What is chosen together. */
const GROUPS = {
  outages: ['monitor.down', 'monitor.up', 'monitor.flapping'],
  updates: ['update.broke_site', 'update.suspect', 'site.http_check_failed'],
  vulnerabilities: ['vulnerability.found', 'vulnerability.summary'],
  certificates: ['certificate.expiring', 'certificate.expired', 'certificate.invalid'],
  domains: ['domain.expiring', 'domain.expired', 'domain.not_found'],
  health: ['site.unhealthy'],
  backups: ['backup.failed', 'site.backup_failed', 'site.drill_failed'],
  approvals: ['approval.asked'],
} as const;
type Kind = (typeof GROUPS)[keyof typeof GROUPS][number];
const ALL: readonly Kind[] = Object.values(GROUPS).flat();

/** In a few words: which alerts, of which sites, and when not. */
export function wantsOf({ kinds, sites, quiet_from, quiet_to }: StoredRecipient): string {
  const groups = (Object.keys(GROUPS) as (keyof typeof GROUPS)[]).filter((group) =>
    GROUPS[group].some((kind) => kinds.includes(kind)),
  );
  return [
    kinds.length === 0 ? t.recipients.allKinds : groups.map((group) => t.recipients.group[group]).join(', '),
    sites.length === 0 ? '' : t.recipients.ofSites(sites.length),
    quiet_from === null || quiet_to === null ? '' : t.recipients.quiet(quiet_from, quiet_to),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/**
 * @param of the recipient to change; absent = a new one
 * @param done called with the id of the recipient, null when cancelled
 */
export function RecipientForm({ of, done }: { of?: StoredRecipient; done: (id: number | null) => void }) {
  const [type, setType] = useState<Type>(of?.type ?? 'slack');
  const name = useText(of?.name ?? '');
  const url = useText();
  const token = useText();
  const chat = useText();
  const stored = of?.kinds ?? [];
  const [kinds, setKinds] = useState(stored.length === 0 ? ALL : ALL.filter((kind) => stored.includes(kind)));
  const [sites, setSites] = useState<readonly number[]>(of?.sites ?? []);
  const from = useText(of?.quiet_from ?? '');
  const to = useText(of?.quiet_to ?? '');
  const [active, setActive] = useState(of?.active ?? true);
  const [secret, setSecret] = useState<{ id: number; text: string } | null>(null);
  const [tried, setTried] = useState<{ delivered: boolean; words: string } | null>(null);
  const telegram = type === 'telegram';
  const target = Object.fromEntries(
    Object.entries(telegram ? { token: token.value, chat_id: chat.value } : { url: url.value }).filter(
      ([, value]) => value !== '',
    ),
  );
  const called = name.value.trim() || t.recipients.type[type];
  const wants = {
    kinds: kinds.length === ALL.length ? [] : [...kinds],
    sites: [...sites],
    quiet_from: from.value === '' ? null : from.value,
    quiet_to: to.value === '' ? null : to.value,
    active,
  };
  const test = async () => {
    try {
      const unchanged = of !== undefined && Object.keys(target).length === 0;
      const { data, message } = await answer(
        unchanged
          ? api.POST('/alerts/recipients/{recipient_id}/test', {
              params: { path: { recipient_id: of.id } },
              body: {},
            })
          : api.POST('/alerts/recipients/test', { body: { type, name: called, ...target } }),
      );
      const words = data.delivered ? t.recipients.arrived : `${message} ${data.error}`.trim();
      setTried({ delivered: data.delivered, words });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setTried({ delivered: false, words: Object.values(error.reasons)[0] ?? error.message });
    }
  };
  const save = async () => {
    // An empty list would mean all.
    if (kinds.length === 0) return;
    if (of !== undefined) {
      const { message } = await answer(
        api.PUT('/alerts/recipients/{recipient_id}/edit', {
          params: { path: { recipient_id: of.id } },
          body: { name: called, ...target, ...wants },
        }),
      );
      refresh('settings:recipients');
      showToast(message);
      return done(of.id);
    }
    const {
      data,
      message,
      secret: made,
    } = await answer(api.POST('/alerts/recipients/add', { body: { type, name: called, ...target, ...wants } }));
    refresh('settings:recipients');
    showToast(message);
    if (made === undefined) done(data.id);
    else setSecret({ id: data.id, text: made });
  };
  if (secret !== null)
    return (
      <>
        <p>{t.recipients.secret}</p>
        <pre class="token">{secret.text}</pre>
        <div class="row end">
          <Button kind="main" onClick={() => done(secret.id)}>
            {t.access.kept}
          </Button>
        </div>
      </>
    );
  const required = of === undefined;
  return (
    <Form onSubmit={save}>
      {required && (
        <SelectField
          label={t.recipients.by}
          value={type}
          onChange={(next) => setType(TYPES.find((one) => one === next) ?? 'webhook')}
          options={TYPES.map((one) => [one, t.recipients.type[one]] as const)}
        />
      )}
      {telegram ? (
        <>
          <TextField label={t.recipients.token} name="token" type="password" {...token} required={required} />
          <TextField label={t.recipients.chat} name="chat_id" {...chat} required={required} />
        </>
      ) : (
        <TextField
          label={t.recipients.url}
          name="url"
          hint={required ? t.recipients.urlHint[type] : t.recipients.urlKept}
          type="url"
          {...url}
          required={required}
        />
      )}
      <TextField label={t.recipients.name} name="name" {...name} />
      <fieldset class="choices">
        <legend>{t.recipients.kinds}</legend>
        {(Object.keys(GROUPS) as (keyof typeof GROUPS)[]).map((group) => (
          <Check
            key={group}
            label={t.recipients.group[group]}
            checked={GROUPS[group].some((kind) => kinds.includes(kind))}
            onChange={(on) => {
              const rest = kinds.filter((kind) => !GROUPS[group].some((one) => one === kind));
              setKinds(on ? [...rest, ...GROUPS[group]] : rest);
            }}
          />
        ))}
        {kinds.length === 0 && (
          <p class="problem" role="alert">
            {t.recipients.noKinds}
          </p>
        )}
      </fieldset>
      <SitePicker label={t.recipients.sites} none={t.recipients.allSites} chosen={sites} onChange={setSites} />
      <fieldset class="row">
        <legend>{t.recipients.quietHours}</legend>
        <TextField label={t.recipients.quietFrom} name="quiet_from" type="time" {...from} />
        <TextField label={t.recipients.quietTo} name="quiet_to" type="time" {...to} />
      </fieldset>
      {!required && <Check label={t.recipients.active} checked={active} onChange={setActive} />}
      <div class="row">
        <Button icon={Send} onClick={test}>
          {t.recipients.test}
        </Button>
        {tried !== null && (
          <span class={tried.delivered ? 'good' : 'problem'} role="status">
            {tried.words}
          </span>
        )}
      </div>
      <FormEnd send={t.save} cancel={() => done(null)} />
    </Form>
  );
}
