/** The most important settings: monitors, alert mails, recipients. All others are in the REST interface. */

import { useEffect, useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Check, SelectField, TextField } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Card, Page } from '../parts/page.js';
import { Loaded } from '../parts/states.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Recipients } from './recipients.js';
import { Facts } from './site-overview.js';
import { TagsCard } from './tags.js';

const INTERVALS = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

export function Settings() {
  return (
    <Page title={t.nav.settings}>
      <div class="columns">
        <div>
          <Monitoring />
          <Mail />
        </div>
        <div>
          <Recipients />
          <TagsCard />
          <Card title={t.settings.more}>
            <p>
              {t.settings.moreText} <a href="/docs">/docs</a>
            </p>
          </Card>
        </div>
      </div>
    </Page>
  );
}

function Monitoring() {
  const write = useMayWrite();
  const settings = useLoad('settings:monitoring', (signal) =>
    answer(api.GET('/settings/monitoring', { signal })).then(({ data }) => data),
  );
  const [active, setActive] = useState(false);
  const [interval, setInterval] = useState('60');
  useEffect(() => {
    if (settings.data === undefined) return;
    setActive(settings.data.svc_uptime_monitoring_active === 1);
    setInterval(String(settings.data.svc_uptime_monitoring_interval));
  }, [settings.data]);
  const save = async () => {
    const body = {
      svc_uptime_monitoring_active: active ? (1 as const) : (0 as const),
      svc_uptime_monitoring_interval: Number(interval),
    };
    const { message } = await answer(api.PATCH('/settings/monitoring/edit', { body }));
    if (message !== undefined) showToast(message);
    refresh('settings:', 'monitors:', 'now:');
  };
  return (
    <Card title={t.settings.monitors}>
      <Loaded of={settings}>
        {(data) =>
          write ? (
            <Form onSubmit={save}>
              <Check label={t.settings.monitorAll} checked={active} onChange={setActive} />
              <SelectField
                label={t.settings.every}
                value={interval}
                onChange={setInterval}
                options={[...new Set([...INTERVALS, data.svc_uptime_monitoring_interval])]
                  .sort((a, b) => a - b)
                  .map((minutes) => [String(minutes), t.settings.minutes(minutes)] as const)}
              />
              <p class="hint">{t.settings.monitorHint}</p>
              <FormEnd send={t.save} />
            </Form>
          ) : (
            <Facts
              rows={[
                [t.settings.monitors, data.svc_uptime_monitoring_active === 1 ? t.settings.on : t.settings.off],
                [t.settings.every, t.settings.minutes(data.svc_uptime_monitoring_interval)],
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

/** The alert mails owners need first; the others are in the REST interface. */
const MAILS = ['uptime', 'ssl_certificate', 'domain_expiry', 'site_health', 'daily_digest'];

function Mail() {
  const write = useMayWrite();
  const mails = useLoad('settings:emails', (signal) =>
    answer(api.GET('/settings/emails', { signal })).then(({ data }) => data),
  );
  const [recipients, setRecipients] = useState('');
  const shown = (mails.data ?? []).filter(({ type }) => MAILS.includes(type));
  const known = shown.find(({ recipients: to }) => to !== '')?.recipients ?? '';
  useEffect(() => setRecipients(known), [known]);
  const edit = (type: string, body: { recipients?: string; disable?: 0 | 1 }) =>
    answer(api.PATCH('/settings/emails/{mail_type}/edit', { params: { path: { mail_type: type as 'uptime' } }, body }));
  const save = async () => {
    try {
      for (const { type } of shown) await edit(type, { recipients });
      showToast(t.settings.mailSaved);
    } finally {
      refresh('settings:');
    }
  };
  const toggle = async (type: string, on: boolean) => {
    await trying(async () => (await edit(type, { disable: on ? 0 : 1 })).message ?? null);
    refresh('settings:emails');
  };
  return (
    <Card title={t.settings.mail}>
      <Loaded of={mails}>
        {() => (
          <>
            {write && (
              <Form onSubmit={save}>
                <TextField
                  label={t.settings.mailTo}
                  name="recipients"
                  hint={t.settings.mailHint}
                  value={recipients}
                  onInput={setRecipients}
                  autocomplete="email"
                />
                <FormEnd send={t.save} />
              </Form>
            )}
            <ul class="lines">
              {shown.map(({ type, label, description, disable, recipients: to }) => (
                <li key={type}>
                  {write ? (
                    <Check label={label} checked={disable === 0} onChange={(on) => void toggle(type, on)} />
                  ) : (
                    <strong>
                      {label}: {disable === 0 ? t.settings.on : t.settings.off}
                    </strong>
                  )}
                  <span class="muted small">
                    {description} {to === '' ? t.settings.nobody : t.settings.goesTo(to)}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Card>
  );
}
