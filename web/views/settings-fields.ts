/** The settings of each card of the page of settings, in their order. */

import type { SettingField } from './settings-group.js';

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
  ['backup_before_upgrade', 'switch'],
  ['backup_before_upgrade_days', 'number'],
  ['svc_notification_on_backup_fail', 'switch'],
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

/** The cards by name, as addresses name them; those without fields have forms of their own. */
export const SETTINGS = {
  monitors: CHECKS,
  mail: [],
  dashboard: DASHBOARD,
  sync: SYNC,
  costs: [['currency', 'text']],
  recipients: [],
  approvals: [],
  tags: [],
  updates: UPDATES,
  automatic: AUTOMATIC,
  calls: CALLS,
} as const satisfies Record<string, readonly SettingField[]>;
export type SettingsCard = keyof typeof SETTINGS;

/** Address of a card, or of one of its settings. */
export function settingAddress(card: SettingsCard, name?: string): string {
  return `/settings?at=${card}${name === undefined ? '' : `.${name}`}`;
}
