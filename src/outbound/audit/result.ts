/** Parses a Lighthouse result, from the program or from PageSpeed Insights. The input is untrusted. */

import { isObject } from '../../runtime/plain-json.js';
import {
  type AuditEngine,
  AuditFailure,
  type AuditFinding,
  type AuditOutcome,
  type LabName,
  type LabValue,
} from './audit.js';

type Json = Record<string, unknown>;

/** Lighthouse's ids of the lab values. */
const LAB: Record<LabName, string> = {
  first_contentful_paint: 'first-contentful-paint',
  largest_contentful_paint: 'largest-contentful-paint',
  speed_index: 'speed-index',
  total_blocking_time: 'total-blocking-time',
  cumulative_layout_shift: 'cumulative-layout-shift',
  time_to_interactive: 'interactive',
};

const MAX_FINDINGS = 100;
/** It cannot cross its own beginning: in a text of nothing but brackets each would be followed to the end. */
const MARKDOWN_LINK = /\[([^[\]]*)\]\([^()]*\)/g;
/** From 0.9 an audit counts as passed. */
const PASSED = 0.9;
/** The page itself returned an error, or would not load: an immediate retry would give the same result. */
const RETRY_MS = 10 * 60_000;

/** Throws AuditFailure if the result says that the page could not be measured. */
export function outcomeOf(result: unknown, engine: AuditEngine): AuditOutcome {
  const audits = objectOf(objectOf(result)?.audits);
  const categories = objectOf(objectOf(result)?.categories);
  if (audits === undefined || categories === undefined)
    throw new AuditFailure('The measurement gave no result.', RETRY_MS);
  const error = objectOf(objectOf(result)?.runtimeError);
  const code = text(error?.code, 60);
  if (code !== '' && code !== 'NO_ERROR')
    throw new AuditFailure(`The page could not be measured: ${text(error?.message, 300) || code}`, null);
  const outcome: AuditOutcome = {
    engine,
    performance: score(categories, 'performance'),
    seo: score(categories, 'seo'),
    accessibility: score(categories, 'accessibility'),
    best_practices: score(categories, 'best-practices'),
    lab_data: labData(audits),
    others_data: findings(categories, audits),
    response_code: responseCode(audits),
  };
  if (outcome.performance === null && outcome.seo === null && outcome.accessibility === null)
    throw new AuditFailure('The measurement gave no score.', RETRY_MS);
  return outcome;
}

function score(categories: Json, name: string): number | null {
  const value = objectOf(categories[name])?.score;
  return typeof value === 'number' && value >= 0 && value <= 1 ? Math.round(value * 100) : null;
}

function labData(audits: Json): AuditOutcome['lab_data'] {
  const entries = (Object.entries(LAB) as [LabName, string][]).flatMap(([name, id]): [LabName, LabValue][] => {
    const audit = objectOf(audits[id]);
    const value = audit?.numericValue;
    if (typeof value !== 'number' || !Number.isFinite(value)) return [];
    const unit = name === 'cumulative_layout_shift' ? '' : 'ms';
    const shown = unit === 'ms' ? Math.round(value) : Math.round(value * 10_000) / 10_000;
    return [[name, { value: shown, unit, score: fraction(audit?.score), display: text(audit?.displayValue, 60) }]];
  });
  return Object.fromEntries(entries);
}

/** Audits that did not pass, worst first, each once. */
function findings(categories: Json, audits: Json): AuditFinding[] {
  const found = new Map<string, AuditFinding>();
  for (const [category, body] of Object.entries(categories)) {
    const refs = objectOf(body)?.auditRefs;
    for (const ref of Array.isArray(refs) ? refs : []) {
      const id = text(objectOf(ref)?.id, 100);
      const audit = objectOf(audits[id]);
      const worth = fraction(audit?.score);
      if (audit === undefined || worth === null || worth >= PASSED || found.has(id)) continue;
      found.set(id, {
        id,
        title: text(audit.title, 300),
        description: text(audit.description, 1000),
        score: worth,
        display_value: text(audit.displayValue, 100),
        group: groupOf(text(objectOf(ref)?.group, 60), category),
      });
    }
  }
  return [...found.values()].sort((a, b) => (a.score ?? 0) - (b.score ?? 0)).slice(0, MAX_FINDINGS);
}

/** `hidden` is Lighthouse's group for what its own page does not show. */
function groupOf(group: string, category: string): string {
  return group === '' || group === 'hidden' ? category : group;
}

/** Status of the page itself: the first document among the requests. */
function responseCode(audits: Json): number | null {
  const items = objectOf(objectOf(audits['network-requests'])?.details)?.items;
  const page = (Array.isArray(items) ? items : []).map(objectOf).find((item) => item?.resourceType === 'Document');
  const status = page?.statusCode;
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599 ? status : null;
}

function fraction(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null;
}

function objectOf(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

/** One line, without markdown links and control characters. */
function text(value: unknown, max: number): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, 5000)
    .replace(MARKDOWN_LINK, '$1')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, max);
}
