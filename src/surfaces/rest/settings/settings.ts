/** Routes of the settings, by group (REST §6.10). */

import { mailChange, mailSetting } from '../../../../schemas/mail.js';
import { editShape, valuesShape } from '../../../../schemas/settings.js';
import { z } from '../../../../schemas/zod.js';
import { editMail, listMails } from '../../../domain/alerts/mail/settings.js';
import { changeSettings } from '../../../domain/policies/of-settings.js';
import { GROUPS, type Group } from '../../../domain/settings/effects.js';
import { type GroupView, readSettings, type SettingsChange } from '../../../domain/settings/settings.js';
import { once } from '../../../runtime/once.js';
import { costSettings } from '../costs/settings.js';
import { onlyShown, withoutShown } from '../only-shown.js';
import type { InnerCodes } from '../parameter-errors.js';
import { type Route, route } from '../route.js';
import { backups } from './backups.js';
import { changedMessage } from './stored-only.js';
import { toolRoutes } from './tools.js';

const PARTIAL = 'Only the fields sent change; null or an empty text restores the default. Unknown fields are refused.';

/** Values as `data`; `meta.notes` lists the fields that have no effect in this service, with the reason. */
function groupAnswer({ values, notes }: GroupView) {
  return { data: values, ...(Object.keys(notes).length === 0 ? {} : { meta: { notes } }) };
}

function texts<N extends string>(names: readonly N[]) {
  return Object.fromEntries(names.map((name) => [name, z.string()])) as Record<N, z.ZodString>;
}

const none = once(() => z.object({}));

interface GroupFacts {
  summary: string;
  /** What the description of a change says besides. */
  note?: string;
  inner?: InnerCodes;
  /** Values in answers in another form than in a change. */
  shapes?: () => z.ZodRawShape;
  /** Texts in answers that are derived from the others. */
  derived?: readonly string[];
}

/** Reading and changing one group of settings. */
function groupRoutes<G extends Group>(
  group: G,
  { summary, note, inner = {}, shapes, derived = [] }: GroupFacts,
): Route[] {
  const name = group.replace('-', ' ');
  const returns = () =>
    z.object({
      data: valuesShape(GROUPS[group]).extend({
        ...shapes?.(),
        ...texts(derived),
      }),
      meta: z
        .object({ notes: z.record(z.string()) })
        .optional()
        .describe('Fields that have no effect here, and why.'),
    });
  return [
    route({
      on: `GET /settings/${group}`,
      summary,
      params: none,
      returns,
      answer: async (_params, ctx) => groupAnswer(await readSettings(ctx, group)),
    }),
    route({
      on: `PUT|PATCH /settings/${group}/edit`,
      change: 'settings',
      body: 'required',
      summary: `Change ${name} settings`,
      description: note === undefined ? PARTIAL : `${PARTIAL} ${note}`,
      params: () => editShape(GROUPS[group]).extend(onlyShown(texts(derived))),
      inner,
      returns,
      async answer(sent, ctx) {
        const change = await withoutShown<Record<string, unknown>, string>(
          sent,
          derived,
          async () => (await readSettings(ctx, group)).values,
        );
        const view = await changeSettings(ctx, group, change as SettingsChange<G>);
        return {
          message: changedMessage(`The ${name} settings were changed.`, change, view.notes),
          ...groupAnswer(view),
        };
      },
    }),
  ];
}

const MAIL_FACTS = ['type', 'label', 'description'] as const;

const emails = [
  route({
    on: 'GET /settings/emails',
    summary: 'List the mails that the service can send',
    params: none,
    returns: () => z.object({ total: z.number().int(), data: z.array(mailSetting()) }),
    async answer(_params, ctx) {
      const data = await listMails(ctx);
      return { total: data.length, data };
    },
  }),
  route({
    on: 'PUT|PATCH /settings/emails/{mail_type}/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change a mail',
    description: PARTIAL,
    params: () => z.object({ mail_type: z.string().max(60), ...mailChange(), ...onlyShown(texts(MAIL_FACTS)) }),
    returns: () => z.object({ data: mailSetting() }),
    async answer({ mail_type, ...sent }, ctx) {
      const shown = async () => (await listMails(ctx)).find(({ type }) => type === mail_type) ?? {};
      const change = await withoutShown(sent, MAIL_FACTS, shown);
      return { message: 'The mail was changed.', data: await editMail(ctx, mail_type, change) };
    },
  }),
];

export const settings: readonly Route[] = [
  ...groupRoutes('general', {
    summary: 'General settings',
    note: 'sidebar_position and svc_widgets are per user of the key. Automatic updates are a policy (GET /policies); if a caller who may not approve set it, each of its plans waits for a person.',
    inner: { time_daily_update: 'invalid_time_update', time_auto_update: 'invalid_time_update' },
    shapes: () => ({
      svc_primary_backup: z.object({ value: z.string(), title: z.string() }).describe('Backup method.'),
    }),
  }),
  ...groupRoutes('advanced', {
    summary: 'Advanced settings: how sites are contacted',
    note: "They take effect immediately and override the server's environment.",
    inner: { sync_data: 'invalid_sync_data_type' },
  }),
  ...groupRoutes('monitoring', {
    summary: 'Monitoring settings',
    note: 'The same values as in PUT /monitors/settings.',
    derived: ['svc_uptime_monitoring_interval_label', 'svc_uptime_monitoring_timeout_label'],
  }),
  ...emails,
  ...costSettings,
  ...groupRoutes('dashboard-insights', { summary: 'Dashboard insights settings' }),
  ...backups,
  ...groupRoutes('tools', { summary: 'Tools settings', note: 'svc_theme is per user of the key.' }),
  ...toolRoutes,
];
