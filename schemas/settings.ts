/** Settings (REST §6.10): every field with its accepted values, default and effect. */

import { among, clock, type Fields, field, line, map, onOff, slugs, type ValuesOf, whole } from './setting-fields.js';

import { z } from './zod.js';

export { type Fields, onOff, type ValuesOf } from './setting-fields.js';

const SCREEN = 'No effect: the page of this service has no such part.';
const THEME = 'No effect: the page of this service follows the browser, or its own switch, for light and dark.';
const BACKUPS = 'No effect: backups of sites do not work this way; see docs/backups.md.';

/** How the backup methods are called where they are shown, by value. */
export const BACKUP_TITLES = { '': 'Native backups', 'module-api-backups': 'API backups' } as const;
type BackupMethod = keyof typeof BACKUP_TITLES;

/** Also as it is shown, with the title that belongs to one of the values. */
const backupMethod = (): z.ZodType<BackupMethod, z.ZodTypeDef, unknown> =>
  z.preprocess(
    (sent, context) => {
      if (typeof sent !== 'object' || sent === null || !('value' in sent)) return sent;
      const title = 'title' in sent ? sent.title : undefined;
      if (title !== undefined && !Object.values(BACKUP_TITLES).some((each) => each === title)) {
        context.addIssue({ code: 'custom', message: 'has a title, which is only shown, and cannot be changed' });
      }
      return sent.value;
    },
    z.enum(['', 'module-api-backups']),
  );

const WHERE = ', on sites whose automatic_update is 1.';

const WIDGETS = [
  'overview',
  'recent_posts',
  'recent_pages',
  'plugins',
  'themes',
  'connection_status',
  'security_issues',
  'notes',
  'clients',
  'child_site_info',
  'client_info',
  'non_svc_changes',
  'get-started',
  'uptime_monitoring_status',
  'uptime_monitoring_response_time',
] as const;

/** A format of PHP's `date`. */
const phpFormat = () => line(50).min(1).regex(/^\D*$/, 'must not contain digits');

export const GENERAL = {
  time_daily_update: field(
    clock,
    '',
    "Start of the daily sync in the dashboard's time zone; empty spreads it over the day.",
  ),
  frequency_daily_update: field(() => whole(1, 12), 2, 'Syncs a day.'),
  date_format: field(
    () =>
      phpFormat()
        // A letter after a backslash stands for itself.
        .regex(
          /^(?:[^\\]|\\.)*?[dDjlSNwzWFmMntLoXxYycrU]/u,
          'must contain a letter for a day, month or year, such as d, m or Y',
        ),
    'F j, Y',
    'Date format in reports, as PHP writes it.',
  ),
  time_format: field(phpFormat, 'g:i a', 'Time format in reports, as PHP writes it.'),
  timezone_string: field(
    () => line(64),
    'UTC+0',
    'Time zone of the dashboard: a name such as Europe/Berlin, or UTC+2.',
  ),
  sidebar_position: field(onOff, 1, '1 = right, 0 = left.', { idle: SCREEN, personal: true }),
  hide_update_everything: field(onOff, 0, 'Hide the button that applies all updates of a site.'),
  svc_widgets: field(
    () => map(WIDGETS),
    Object.fromEntries(WIDGETS.map((name) => [name, 1])),
    'Widgets on the overview.',
    {
      idle: SCREEN,
      personal: true,
    },
  ),
  plugin_automatic_daily_update: field(onOff, 0, `Update trusted plugins automatically${WHERE}`),
  theme_automatic_daily_update: field(onOff, 0, `Update trusted themes automatically${WHERE}`),
  trans_automatic_daily_update: field(onOff, 0, `Update translations automatically${WHERE}`),
  automatic_daily_update: field(onOff, 0, `Update WordPress automatically${WHERE}`),
  trusted_plugins: field(slugs, () => [], 'Slugs of plugins that are updated automatically.'),
  trusted_themes: field(slugs, () => [], 'Slugs of themes that are updated automatically.'),
  frequency_auto_update: field(
    () => z.enum(['daily', 'weekly', 'monthly']),
    'daily',
    'How often automatic updates run.',
  ),
  time_auto_update: field(clock, '00:00', "Time of day of automatic updates, in the dashboard's time zone."),
  dayinweek_auto_update: field(() => whole(0, 6), 0, 'Weekday of weekly automatic updates; 0 = Sunday.'),
  dayinmonth_auto_update: field(
    () => whole(1, 31),
    1,
    'Day of monthly automatic updates; short months use their last day.',
  ),
  delay_autoupdate: field(
    () => among(0, 1, 2, 3, 4, 5, 6, 7, 14, 30),
    1,
    'Days a version must have been on offer in the fleet before it is installed automatically.',
  ),
  show_language_updates: field(onOff, 1, 'Show translations in GET /updates. They are updated either way.'),
  disable_update_confirmations: field(
    () => among(0, 1, 2),
    0,
    'When the page asks before updates: 0 = always, 1 = not for single ones, 2 = never. Assistants still ask.',
  ),
  check_http_response: field(onOff, 1, 'Check a site after updates and report if it is not up.'),
  check_http_response_method: field(
    () => z.enum(['head', 'get']),
    'get',
    'HTTP method of that check. head misses errors that only the body of the page shows.',
  ),
  backup_before_upgrade: field(
    onOff,
    0,
    'Before updates other than translations, back the site up if it has no recent backup; if that fails, do not update it.',
  ),
  backup_before_upgrade_days: field(() => whole(1, 365), 7, 'Days for which a backup counts as recent.'),
  numberdays_outdate_plugin_theme: field(
    () => whole(1, 3650),
    730,
    'Days without a release after which a plugin or theme counts as abandoned.',
  ),
  svc_primary_backup: field(backupMethod, '', 'Backup method; empty = native.', { idle: BACKUPS }),
  svc_enable_legacy_backup_feature: field(onOff, 0, 'Must be 1 with native backups and 0 with module-api-backups.', {
    idle: BACKUPS,
  }),
  svc_backups_on_server: field(() => whole(0, 1000), 1, 'Archives to keep on the server.', { idle: BACKUPS }),
  svc_backup_on_external_sources: field(() => whole(0, 1000), 1, 'Archives to keep off the server.', { idle: BACKUPS }),
  svc_archive_format: field(() => z.enum(['zip', 'tar.gz', 'tar.bz2', 'tar']), 'tar.gz', 'Archive format.', {
    idle: BACKUPS,
  }),
  svc_notification_on_backup_fail: field(onOff, 1, 'Raise an alert when a scheduled backup of a site fails.'),
  svc_notification_on_backup_start: field(onOff, 1, 'Report when a backup starts.', { idle: BACKUPS }),
  svc_chunked_backup_tasks: field(onOff, 1, 'Make backups in steps.', { idle: BACKUPS }),
} satisfies Fields;

const SYNC_PARTS = [
  'wp_updates',
  'plugin_updates',
  'theme_updates',
  'translation_updates',
  'recent_comments',
  'recent_posts',
  'recent_pages',
  'securityStats',
  'directories',
  'categories',
  'totalsize',
  'dbsize',
  'plugins',
  'themes',
  'users',
  'plugins_outdate_info',
  'themes_outdate_info',
  'health_site_status',
  'child_site_actions_data',
  'othersData',
] as const;

/** Parts that cost the child much and that nothing here stores: off unless enabled. */
const UNUSED_PARTS: ReadonlySet<string> = new Set(['users', 'directories', 'totalsize', 'dbsize', 'othersData']);

export const ADVANCED = {
  svc_maximum_requests: field(
    () => whole(1, 200),
    ({ concurrency }) => Math.min(concurrency, 200),
    'Concurrent calls to sites.',
  ),
  svc_minimum_delay: field(() => whole(0, 5000), 0, 'Minimum milliseconds between any two calls.'),
  svc_maximum_ip_requests: field(
    () => whole(1, 10),
    ({ per_host }) => Math.min(per_host, 10),
    'Concurrent calls to one IP address.',
  ),
  svc_minimum_ip_delay: field(() => whole(0, 5000), 0, 'Minimum milliseconds between two calls to one IP address.'),
  svc_chunksitesnumber: field(
    () => whole(1, 30),
    10,
    'Sites per step when reading posts or comments from many sites; used only with a pause.',
  ),
  svc_chunksleepinterval: field(() => whole(0, 20), 0, 'Pause between those steps in seconds; 0 = no steps.'),
  svc_maximum_sync_requests: field(() => whole(1, 200), 50, 'Concurrent syncs.'),
  svc_maximum_install_update_requests: field(() => whole(1, 50), 10, 'Concurrent updates, activations and deletions.'),
  svc_maximum_uptime_monitoring_requests: field(() => whole(1, 500), 50, 'Concurrent uptime checks.'),
  svc_optimize: field(onOff, 1, 'Optimise for shared hosting.', {
    idle: 'No effect: queries read only what is stored and are always bounded, whatever the hosting.',
  }),
  svc_wp_cron: field(
    onOff,
    1,
    'Run the built-in schedule: syncs, checks of monitors, certificates and domains, audits, health reports, the digest. 0 stops all of it; calls and queued jobs continue.',
  ),
  svc_ssl_verify_certificate: field(onOff, 1, 'Check TLS certificates of sites; 0 overrides the setting of each site.'),
  svc_verify_connection_method: field(() => among(1, 2), 1, '1 = native cryptography, 2 = a fallback in plain code.', {
    idle: 'Always 1: native cryptography is part of the runtime.',
  }),
  svc_force_use_ipv4: field(onOff, 0, 'Reach sites over IPv4 only.'),
  svc_connect_signature_algo: field(() => z.enum(['SHA256', 'SHA384', 'SHA512']), 'SHA256', 'Hash used to sign calls.'),
  sync_data: field(
    () => map(SYNC_PARTS),
    Object.fromEntries(SYNC_PARTS.map((part) => [part, UNUSED_PARTS.has(part) ? 0 : 1])),
    'Parts of a sync. A part that is off keeps its last stored data. Only the parts sent change.',
  ),
  svc_abilities_batch_threshold: field(
    () => whole(0, 1_000_000),
    ({ batch_threshold }) => batch_threshold,
    'Calls on more sites than this become queued jobs.',
  ),
} satisfies Fields;

export const TOOLS = {
  svc_theme: field(
    () => z.enum(['default', 'default-2024', 'classic', 'dark', 'wpadmin', 'minimalistic']),
    'default',
    'Colours of the dashboard.',
    { idle: THEME, personal: true },
  ),
  guided_tours: field(onOff, 0, 'Show guided tours.', { idle: SCREEN }),
  chat_widget: field(onOff, 0, 'Show the chat.', { idle: SCREEN }),
  guided_video: field(onOff, 0, 'Show videos.', { idle: SCREEN }),
} satisfies Fields;

export const INSIGHTS = {
  enable_insights_logging: field(onOff, 1, 'Collect usage statistics.', {
    idle: 'No effect: nothing is counted and nothing leaves this service.',
  }),
} satisfies Fields;

export const COST_TRACKER = {
  currency: field(() => line(3), 'USD', 'ISO 4217 code.'),
  currency_position: field(
    () => z.enum(['left', 'right', 'left_space', 'right_space']),
    'left',
    'Position of the currency.',
    { idle: SCREEN },
  ),
  thousand_separator: field(() => z.string().length(1), ',', 'One character, different from the decimal separator.', {
    idle: SCREEN,
  }),
  decimal_separator: field(() => z.string().length(1), '.', 'One character.', { idle: SCREEN }),
  decimals: field(() => whole(0, 4), 2, 'Decimals shown.', { idle: SCREEN }),
} satisfies Fields;

/** The values of a group as returned. */
export function valuesShape(fields: Fields) {
  return z.object(
    Object.fromEntries(Object.entries(fields).map(([name, { schema, about }]) => [name, schema().describe(about)])),
  );
}

/** Parameters of an edit: every field may be omitted (unchanged) or null (default). "" also clears a text. */
export function editShape<F extends Fields>(fields: F) {
  return z.object(
    Object.fromEntries(
      Object.entries(fields).map(([name, { schema, about, idle }]) => [
        name,
        z
          .preprocess((value) => (value === '' ? null : value), schema().nullable())
          .optional()
          .describe(idle === undefined ? about : `${about} ${idle}`),
      ]),
    ) as unknown as { [K in keyof F]: z.ZodOptional<z.ZodType<ValuesOf<F>[K] | null, z.ZodTypeDef, unknown>> },
  );
}
