/** All settings that have an effect: monitors, mails and their recipients, tags, reports, updates, calls to sites. */

import { useEffect, useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { ApprovalRules } from '../parts/approval-rules.js';
import { Check, SelectField } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Card, Page } from '../parts/page.js';
import { Loaded } from '../parts/states.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Mails } from './mails.js';
import { Recipients } from './recipients.js';
import { type SettingField, SettingsGroup } from './settings-group.js';
import { Facts } from './site-overview.js';
import { TagsCard } from './tags.js';

const INTERVALS = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

const CHECKS: readonly SettingField[] = [
  ['svc_uptime_monitoring_type', ['http', 'ping', 'keyword']],
  ['svc_uptime_monitoring_keyword', 'text'],
  ['svc_uptime_monitoring_method', ['head', 'get', 'post', 'push', 'patch', 'delete', 'put', 'options']],
  ['svc_uptime_monitoring_up_status_codes', 'text'],
  ['svc_uptime_monitoring_timeout', 'number'],
  ['svc_uptime_monitoring_down_confirmation_check', 'number'],
  ['svc_disable_sites_health_monitoring', 'switch'],
  ['svc_sitehealth_threshold', 'number'],
];
const UPDATES: readonly SettingField[] = [
  ['disable_update_confirmations', ['0', '1', '2']],
  ['hide_update_everything', 'switch'],
  ['show_language_updates', 'switch'],
  ['check_http_response', 'switch'],
  ['check_http_response_method', ['get', 'head']],
  ['numberdays_outdate_plugin_theme', 'number'],
];
const AUTOMATIC: readonly SettingField[] = [
  ['plugin_automatic_daily_update', 'switch'],
  ['trusted_plugins', 'text'],
  ['theme_automatic_daily_update', 'switch'],
  ['trusted_themes', 'text'],
  ['trans_automatic_daily_update', 'switch'],
  ['automatic_daily_update', 'switch'],
  ['frequency_auto_update', ['daily', 'weekly', 'monthly']],
  ['dayinweek_auto_update', ['1', '2', '3', '4', '5', '6', '0']],
  ['dayinmonth_auto_update', 'number'],
  ['time_auto_update', 'time'],
  ['delay_autoupdate', ['0', '1', '2', '3', '4', '5', '6', '7', '14', '30']],
];
const DASHBOARD: readonly SettingField[] = [
  ['timezone_string', 'text'],
  ['date_format', 'text'],
  ['time_format', 'text'],
];
const SYNC: readonly SettingField[] = [
  ['frequency_daily_update', 'number'],
  ['time_daily_update', 'time'],
];
const CALLS: readonly SettingField[] = [
  ['svc_wp_cron', 'switch'],
  ['svc_ssl_verify_certificate', 'switch'],
  ['svc_force_use_ipv4', 'switch'],
  ['svc_connect_signature_algo', ['SHA256', 'SHA384', 'SHA512']],
  ['svc_maximum_requests', 'number'],
  ['svc_minimum_delay', 'number'],
  ['svc_maximum_ip_requests', 'number'],
  ['svc_minimum_ip_delay', 'number'],
  ['svc_maximum_sync_requests', 'number'],
  ['svc_maximum_install_update_requests', 'number'],
  ['svc_maximum_uptime_monitoring_requests', 'number'],
  ['svc_chunksitesnumber', 'number'],
  ['svc_chunksleepinterval', 'number'],
  ['svc_abilities_batch_threshold', 'number'],
  ['sync_data', 'parts'],
];

export function Settings() {
  return (
    <Page title={t.nav.settings}>
      <div class="columns">
        <div>
          <Monitoring />
          <Mails />
          <Card title={t.settings.dashboard}>
            <SettingsGroup group="general" fields={DASHBOARD} />
          </Card>
          <Card title={t.settings.sync}>
            <SettingsGroup group="general" fields={SYNC} />
          </Card>
          <Card title={t.settings.costs}>
            <SettingsGroup group="cost-tracker" fields={[['currency', 'text']]} />
          </Card>
        </div>
        <div>
          <Recipients />
          <Card title={t.nav.approvals}>
            <ApprovalRules />
          </Card>
          <TagsCard />
          <Card title={t.settings.updates}>
            <SettingsGroup group="general" fields={UPDATES} />
          </Card>
          <Card title={t.settings.automatic}>
            <details class="fold">
              <summary>{t.settings.automaticText}</summary>
              <SettingsGroup group="general" fields={AUTOMATIC} />
            </details>
          </Card>
          <Card title={t.settings.calls}>
            <details class="fold">
              <summary>{t.settings.callsText}</summary>
              <SettingsGroup group="advanced" fields={CALLS} />
            </details>
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
      <details class="fold">
        <summary>{t.settings.checks}</summary>
        <SettingsGroup group="monitoring" fields={CHECKS} />
      </details>
    </Card>
  );
}
