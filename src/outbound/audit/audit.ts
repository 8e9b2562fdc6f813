/**
 * The audit port: performance measurements of a page. `create.ts` implements it. An audit takes a browser and half a
 * minute, here or at an external service.
 */

export type AuditStrategy = 'desktop' | 'mobile';
export type AuditEngine = 'lighthouse' | 'pagespeed';

export interface AuditRequest {
  engine: AuditEngine;
  /** URL of the page, http or https. */
  url: string;
  strategy: AuditStrategy;
  /** Language of titles and descriptions, such as `en`. */
  locale: string;
  /** Key of the external service; null without one. */
  key: string | null;
  signal: AbortSignal;
}

/** One lab value: `unit` is `ms`, or empty for a plain number; `score` 0 to 1. */
export interface LabValue {
  value: number;
  unit: 'ms' | '';
  score: number | null;
  display: string;
}

export const LAB_NAMES = [
  'first_contentful_paint',
  'largest_contentful_paint',
  'speed_index',
  'total_blocking_time',
  'cumulative_layout_shift',
  'time_to_interactive',
] as const;
export type LabName = (typeof LAB_NAMES)[number];

/** One audit that the page did not pass. */
export interface AuditFinding {
  id: string;
  title: string;
  description: string;
  score: number | null;
  display_value: string;
  group: string;
}

/** Scores are 0 to 100. */
export interface AuditOutcome {
  engine: AuditEngine;
  performance: number | null;
  seo: number | null;
  accessibility: number | null;
  best_practices: number | null;
  lab_data: Partial<Record<LabName, LabValue>>;
  others_data: AuditFinding[];
  response_code: number | null;
}

/** An audit without a result. The message is safe to show. */
export class AuditFailure extends Error {
  /** Milliseconds until a retry makes sense; null = it would fail again. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'AuditFailure';
    this.retryAfterMs = retryAfterMs;
  }
}

export interface Auditor {
  /** Null if Lighthouse can run here, otherwise advice to the operator on what is missing. */
  missing(): Promise<string | null>;
  /** Rejects with AuditFailure, or with the signal's reason. */
  run(request: AuditRequest): Promise<AuditOutcome>;
}
