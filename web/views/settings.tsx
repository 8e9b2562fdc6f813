/** All settings that have an effect: monitors, mails and their recipients, tags, reports, updates, calls to sites. */

import { useEffect, useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { ApprovalRules } from '../parts/approval-rules.js';
import { useArrival } from '../parts/arrival.js';
import { Check, SelectField } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Card, Page } from '../parts/page.js';
import { useQuery } from '../parts/query.js';
import { Loaded } from '../parts/states.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Mails } from './mails.js';
import { Recipients } from './recipients.js';
import { SETTINGS, type SettingsCard } from './settings-fields.js';
import { SettingsGroup } from './settings-group.js';
import { Facts } from './site-overview.js';
import { TagsCard } from './tags.js';

const INTERVALS = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

export function Settings() {
  const [query, change] = useQuery();
  useArrival(query.at, () => change({ at: undefined }, true));
  return (
    <Page title={t.nav.settings}>
      <div class="columns">
        <div>
          <Monitoring />
          <Mails />
          <Card {...card('dashboard')}>
            <SettingsGroup group="general" fields={SETTINGS.dashboard} />
          </Card>
          <Card {...card('sync')}>
            <SettingsGroup group="general" fields={SETTINGS.sync} />
          </Card>
          <Card {...card('costs')}>
            <SettingsGroup group="cost-tracker" fields={SETTINGS.costs} />
          </Card>
        </div>
        <div>
          <Recipients />
          <Card {...card('approvals')}>
            <ApprovalRules />
          </Card>
          <TagsCard />
          <Card {...card('updates')}>
            <SettingsGroup group="general" fields={SETTINGS.updates} />
          </Card>
          <Card {...card('automatic')}>
            <details class="fold">
              <summary>{t.settings.automaticText}</summary>
              <SettingsGroup group="general" fields={SETTINGS.automatic} />
            </details>
          </Card>
          <Card {...card('calls')}>
            <details class="fold">
              <summary>{t.settings.callsText}</summary>
              <SettingsGroup group="advanced" fields={SETTINGS.calls} />
            </details>
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** Title and address of a card. */
const card = (id: SettingsCard) => ({ id, title: t.settings.card[id] });

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
    <Card {...card('monitors')}>
      <Loaded of={settings}>
        {(data) =>
          write ? (
            <Form onSubmit={save}>
              <div id="monitor-all">
                <Check label={t.settings.monitorAll} checked={active} onChange={setActive} />
              </div>
              <div id="monitor-every">
                <SelectField
                  label={t.settings.every}
                  value={interval}
                  onChange={setInterval}
                  options={[...new Set([...INTERVALS, data.svc_uptime_monitoring_interval])]
                    .sort((a, b) => a - b)
                    .map((minutes) => [String(minutes), t.settings.minutes(minutes)] as const)}
                />
              </div>
              <p class="hint">{t.settings.monitorHint}</p>
              <FormEnd send={t.save} />
            </Form>
          ) : (
            <Facts
              rows={[
                [t.settings.card.monitors, data.svc_uptime_monitoring_active === 1 ? t.settings.on : t.settings.off],
                [t.settings.every, t.settings.minutes(data.svc_uptime_monitoring_interval)],
              ]}
            />
          )
        }
      </Loaded>
      <details class="fold">
        <summary>{t.settings.checks}</summary>
        <SettingsGroup group="monitoring" fields={SETTINGS.monitors} />
      </details>
    </Card>
  );
}
