/** Schemas of the audit records, for the interface description (REST §6.7). */

import { AUDIT_ENGINES, AUDIT_SCHEDULES, AUDIT_STRATEGIES } from '../../../../schemas/audit.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';

const int = () => z.number().int();
const score = () => int().min(0).max(100).nullable().describe('0 to 100; null = not measured.');
const moment = () => z.string().datetime();
const engine = () => z.enum(['lighthouse', 'pagespeed']);

const scores = once(() => ({ seo: score(), accessibility: score(), best_practices: score() }));

const figure = (unit: 'ms' | '', what: string) =>
  z
    .object({
      value: z.number().min(0),
      unit: z.literal(unit),
      score: z.number().min(0).max(1).nullable(),
      display: z.string().describe('Formatted for people.'),
    })
    .optional()
    .describe(`${what}; absent when it was not measured.`);

const strategyResult = once(() =>
  z
    .object({
      score: score().describe('Performance, 0 to 100; null = not measured.'),
      ...scores(),
      lab_data: z.object({
        first_contentful_paint: figure('ms', 'First content is drawn'),
        largest_contentful_paint: figure('ms', 'The largest content is drawn'),
        speed_index: figure('ms', 'How fast the page fills'),
        total_blocking_time: figure('ms', 'Time in which the page does not react'),
        cumulative_layout_shift: figure('', 'How much the content moves while it loads'),
        time_to_interactive: figure('ms', 'The page reacts'),
      }),
      others_data: z
        .array(
          z.object({
            id: z.string(),
            title: z.string(),
            description: z.string(),
            score: z.number().min(0).max(1),
            display_value: z.string(),
            group: z.string(),
          }),
        )
        .describe('Checks the page failed, worst first.'),
      last_modified: moment().describe('When it was measured.'),
      response_code: int().nullable().describe('HTTP status of the page.'),
      engine: engine(),
    })
    .nullable(),
);

export const auditResultShape = once(() =>
  z.object({
    id: int().describe('Id of the site.'),
    url: z.string(),
    name: z.string(),
    desktop: strategyResult().describe('The latest result; null = none, or not requested.'),
    mobile: strategyResult().describe('The same, for mobile.'),
    status: z
      .enum(['pending', 'running', 'completed', 'failed'])
      .nullable()
      .describe('Of the latest audit; null = never audited.'),
    error: z.string().nullable().describe('Why the latest audit gave no result.'),
    strategy: z.enum(AUDIT_STRATEGIES).describe('In force for the site.'),
    schedule: z.enum(AUDIT_SCHEDULES).describe('In force for the site.'),
    override: z.boolean().describe('The site has a setting of its own.'),
  }),
);

export const auditDetailShape = once(() =>
  auditResultShape().extend({
    history: z
      .array(z.object({ at: moment(), strategy: z.enum(['desktop', 'mobile']), performance: score(), ...scores() }))
      .describe('Scores of completed audits, newest first.'),
  }),
);

export const auditSettingsShape = once(() =>
  z.object({
    engine: z.enum(AUDIT_ENGINES),
    api_key: z.string().describe('**** and the last four characters; "" = not set.'),
    language: z.string(),
    strategy: z.enum(AUDIT_STRATEGIES),
    schedule: z.enum(AUDIT_SCHEDULES),
    threshold: int().min(0).max(100).describe('A performance score below this raises an alert; 0 = never.'),
    engine_in_use: engine().nullable().describe('What an audit would use now; null = none can run.'),
    lighthouse: z.string().describe('available, or what to do to make it so.'),
  }),
);

export const auditsQueuedShape = once(() =>
  z.object({
    message: z.string(),
    total: int(),
    data: z.record(z.enum(['queued', 'skipped'])).describe('By site id.'),
    already_queued: z.array(int()).describe('Ids of the sites that were already queued before this call.'),
  }),
);

export const auditQueuedShape = once(() => z.object({ status: z.literal('queued'), already_queued: z.boolean() }));
