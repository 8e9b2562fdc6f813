/** Routes of the settings, by group (REST §6.10). */

import { mailChange, mailSetting } from '../../../schemas/mail.js';
import { MONITORING } from '../../../schemas/monitoring.js';
import { ADVANCED, editShape, GENERAL, INSIGHTS, TOOLS, valuesShape } from '../../../schemas/settings.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../core/once.js';
import { editMail, listMails } from '../../domain/mail/settings.js';
import { editSettings, type GroupView, readSettings } from '../../domain/settings/settings.js';
import { costSettings } from '../costs/settings.js';
import { type Route, route } from '../route.js';
import { backups } from './backups.js';
import { changedMessage } from './stored-only.js';
import { toolRoutes } from './tools.js';

const PARTIAL =
  'Only the fields sent change; null, or an empty text, goes back to the standard. An unknown field is refused by name.';

/** Values as `data`; `meta.notes` lists the fields that have no effect in this service, with the reason. */
function groupAnswer({ values, notes }: GroupView) {
  return { data: values, ...(Object.keys(notes).length === 0 ? {} : { meta: { notes } }) };
}

const groupReturns = (data: () => z.AnyZodObject) => ({
  returns: () =>
    z.object({
      data: data(),
      meta: z
        .object({ notes: z.record(z.string()) })
        .optional()
        .describe('Fields that change nothing here, and why.'),
    }),
});

const generalReturns = groupReturns(() =>
  valuesShape(GENERAL).extend({
    svc_primary_backup: z.object({ value: z.string(), title: z.string() }).describe('Where backups are made.'),
  }),
);
const advancedReturns = groupReturns(() => valuesShape(ADVANCED));
const monitoringReturns = groupReturns(() =>
  valuesShape(MONITORING).extend({
    svc_uptime_monitoring_interval_label: z.string(),
    svc_uptime_monitoring_timeout_label: z.string(),
  }),
);
const insightsReturns = groupReturns(() => valuesShape(INSIGHTS));
const toolsReturns = groupReturns(() => valuesShape(TOOLS));

const none = once(() => z.object({}));

const general = [
  route({
    on: 'GET',
    path: '/settings/general',
    needs: 'read',
    summary: 'General settings',
    params: none,
    ...generalReturns,
    answer: async (_params, ctx) => groupAnswer(await readSettings(ctx, 'general')),
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/settings/general/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change general settings',
    description: `${PARTIAL} sidebar_position and svc_widgets belong to the user of the key.`,
    params: () => editShape(GENERAL),
    inner: { time_daily_update: 'invalid_time_update', time_auto_update: 'invalid_time_update' },
    ...generalReturns,
    async answer(change, ctx) {
      const view = await editSettings(ctx, 'general', change);
      return {
        message: changedMessage('The general settings were changed.', change, view.notes),
        ...groupAnswer(view),
      };
    },
  }),
];

const advanced = [
  route({
    on: 'GET',
    path: '/settings/advanced',
    needs: 'read',
    summary: 'Advanced settings: how sites are contacted',
    params: none,
    ...advancedReturns,
    answer: async (_params, ctx) => groupAnswer(await readSettings(ctx, 'advanced')),
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/settings/advanced/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change advanced settings',
    description: `${PARTIAL} They take effect immediately, and override the environment of the server.`,
    params: () => editShape(ADVANCED),
    inner: { sync_data: 'invalid_sync_data_type' },
    ...advancedReturns,
    async answer(change, ctx) {
      const view = await editSettings(ctx, 'advanced', change);
      return {
        message: changedMessage('The advanced settings were changed.', change, view.notes),
        ...groupAnswer(view),
      };
    },
  }),
];

const monitoring = [
  route({
    on: 'GET',
    path: '/settings/monitoring',
    needs: 'read',
    summary: 'Monitoring settings',
    params: none,
    ...monitoringReturns,
    answer: async (_params, ctx) => groupAnswer(await readSettings(ctx, 'monitoring')),
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/settings/monitoring/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change monitoring settings',
    description: `${PARTIAL} The same values as those of PUT /monitors/settings.`,
    params: () => editShape(MONITORING),
    ...monitoringReturns,
    async answer(change, ctx) {
      const view = await editSettings(ctx, 'monitoring', change);
      return {
        message: changedMessage('The monitoring settings were changed.', change, view.notes),
        ...groupAnswer(view),
      };
    },
  }),
];

const emails = [
  route({
    on: 'GET',
    path: '/settings/emails',
    needs: 'read',
    summary: 'Mails that the service can send',
    params: none,
    returns: () => z.object({ total: z.number().int(), data: z.array(mailSetting()) }),
    async answer(_params, ctx) {
      const data = await listMails(ctx);
      return { total: data.length, data };
    },
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/settings/emails/{mail_type}/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change a mail',
    description: PARTIAL,
    params: () => z.object({ mail_type: z.string().max(60), ...mailChange() }),
    returns: () => z.object({ data: mailSetting() }),
    async answer({ mail_type, ...change }, ctx) {
      return { message: 'The mail was changed.', data: await editMail(ctx, mail_type, change) };
    },
  }),
];

const insights = [
  route({
    on: 'GET',
    path: '/settings/dashboard-insights',
    needs: 'read',
    summary: 'Dashboard insights settings',
    params: none,
    ...insightsReturns,
    answer: async (_params, ctx) => groupAnswer(await readSettings(ctx, 'dashboard-insights')),
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/settings/dashboard-insights/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change dashboard insights settings',
    description: PARTIAL,
    params: () => editShape(INSIGHTS),
    ...insightsReturns,
    async answer(change, ctx) {
      const view = await editSettings(ctx, 'dashboard-insights', change);
      return {
        message: changedMessage('The dashboard insights settings were changed.', change, view.notes),
        ...groupAnswer(view),
      };
    },
  }),
];

const tools = [
  route({
    on: 'GET',
    path: '/settings/tools',
    needs: 'read',
    summary: 'Tools settings',
    params: none,
    ...toolsReturns,
    answer: async (_params, ctx) => groupAnswer(await readSettings(ctx, 'tools')),
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/settings/tools/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change tools settings',
    description: `${PARTIAL} svc_theme belongs to the user of the key.`,
    params: () => editShape(TOOLS),
    ...toolsReturns,
    async answer(change, ctx) {
      const view = await editSettings(ctx, 'tools', change);
      return { message: changedMessage('The tools settings were changed.', change, view.notes), ...groupAnswer(view) };
    },
  }),
];

export const settings: readonly Route[] = [
  ...general,
  ...advanced,
  ...monitoring,
  ...emails,
  ...costSettings,
  ...insights,
  ...backups,
  ...tools,
  ...toolRoutes,
];
