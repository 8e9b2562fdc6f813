/** Schemas of performance audits (REST §6.7). */

import { once } from '../src/runtime/once.js';
import { int, plainText } from './common.js';
import { z } from './zod.js';

export const AUDIT_STRATEGIES = ['desktop', 'mobile', 'both'] as const;
export const AUDIT_SCHEDULES = ['none', 'daily', 'weekly', 'monthly'] as const;
export const AUDIT_ENGINES = ['auto', 'lighthouse', 'pagespeed'] as const;
export type AuditStrategyChoice = (typeof AUDIT_STRATEGIES)[number];

export const auditStrategy = once(() => z.enum(AUDIT_STRATEGIES).describe('Screen to measure for.'));

/** Settings of the module; omitted = unchanged, null = default. */
export const auditSettings = once(() => ({
  engine: z
    .enum(AUDIT_ENGINES)
    .nullable()
    .describe('auto: PageSpeed Insights when a key is set, else Lighthouse on this server.'),
  api_key: plainText(200)
    .nullable()
    .describe('Key of PageSpeed Insights. Write-only: answers show its last four characters.'),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$/, 'must be a language such as en or pt-BR')
    .nullable()
    .describe('Language of titles and descriptions.'),
  strategy: auditStrategy().nullable(),
  schedule: z.enum(AUDIT_SCHEDULES).nullable().describe('How often every site is audited automatically.'),
  threshold: int(0, 100).nullable().describe('A performance score below this raises an alert; 0 = never.'),
}));

export const auditChoice = once(() => ({
  strategy: auditStrategy().nullable().describe('null = the module’s setting applies.'),
  schedule: z.enum(AUDIT_SCHEDULES).nullable().describe('null = the module’s setting applies.'),
}));
