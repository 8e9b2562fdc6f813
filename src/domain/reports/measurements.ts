/** Segments that other parts of the service measure: certificate, domain, page speed (REST §6.8.2). */

import { isoTime } from '../../runtime/iso-time.js';
import { wordpressTime } from '../../runtime/time-zones.js';
import type { Ctx } from '../context.js';
import { getCertificate } from '../monitoring/certificates.js';
import { getDomain } from '../monitoring/domains.js';
import { requireModule } from '../settings/modules.js';
import {
  type ChartPoint,
  type Findings,
  listValue,
  numberValue,
  type ReportRequest,
  type ReportValue,
  textValue,
} from './types.js';

function text(key: string, token: string, title: string, value: string | null): ReportValue {
  return textValue('text', key, token, title, value);
}

function day(key: string, token: string, title: string, at: string | null): ReportValue {
  return textValue('date', key, token, title, at === null ? null : at.slice(0, 10));
}

/** Findings of the last check. @param unchecked what to say if there was none */
function ofLastCheck(
  values: ReportValue[],
  { last_check, error }: { last_check: string | null; error: string | null },
  unchecked: string,
): Findings {
  const notes = [last_check === null ? unchecked : 'As of the last check, regardless of the range.'];
  return { sections: [], values, notes: error === null ? notes : [...notes, error], truncated: false };
}

export async function certificateFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  requireModule(ctx, 'ssl-monitor');
  const seen = await getCertificate(ctx, site.id);
  const values = [
    text('name', 'ssl.name', 'Certificate', seen.subject_cn),
    text('issuer', 'ssl.issuer', 'Issuer', seen.issuer_o ?? seen.issuer_cn),
    day('valid_from', 'ssl.valid.from', 'Valid from', seen.valid_from),
    day('valid_to', 'ssl.valid.to', 'Valid to', seen.valid_to),
    numberValue('days', 'expires', 'ssl.expires', 'Days left', seen.days_left),
    text('status', 'ssl.status', 'Status', seen.status),
    textValue('moment', 'last_check', 'ssl.last.check', 'Last check', seen.last_check),
  ];
  return ofLastCheck(values, seen, 'The certificate was not checked yet.');
}

export async function domainFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  requireModule(ctx, 'domain-monitor');
  const seen = await getDomain(ctx, site.id);
  const values = [
    text('name', 'domain.name', 'Domain', seen.domain_name),
    text('registrar', 'domain.registrar', 'Registrar', seen.registrar),
    day('creation', 'domain.creation', 'Registered on', seen.creation_date),
    day('updated', 'domain.updated', 'Updated on', seen.updated_date),
    day('expiry', 'domain.expiry', 'Registered until', seen.expiry_date),
    numberValue('days', 'expires', 'domain.expires', 'Days left', seen.expires),
    text('status', 'domain.status', 'Status', seen.status_label),
    textValue('moment', 'last_check', 'domain.last.check', 'Last check', seen.last_check),
  ];
  return ofLastCheck(values, seen, 'The domain was not looked up yet.');
}

const SCREENS = ['desktop', 'mobile'] as const;
/** Maximum number of audits in one range that a chart is drawn from. */
const MAX_SCORES = 2000;

/** The last audit of each strategy within the range, and the scores over it. */
export async function auditFindings(ctx: Ctx, { site, from, to, zone }: ReportRequest): Promise<Findings> {
  requireModule(ctx, 'perf-audit');
  const [scores, newest] = await Promise.all([
    ctx.store.audits.scores(site.id, from, to, MAX_SCORES),
    ctx.store.audits.newest([site.id]),
  ]);
  const values = SCREENS.flatMap((screen): ReportValue[] => {
    const ofScreen = scores.filter((point) => point.strategy === screen);
    const [last] = ofScreen;
    const score = (word: string, title: string, value: number | null | undefined) =>
      numberValue('number', `${word}_${screen}`, `perf.${word}.${screen}`, `${title}, ${screen}`, value ?? null);
    const row = (newest.get(site.id) ?? []).find(
      (audit) => audit.strategy === screen && audit.finished_at === last?.at,
    );
    return [
      score('performance', 'Performance', last?.performance),
      score('accessibility', 'Accessibility', last?.accessibility),
      score('bestpractices', 'Bestpractices', last?.best_practices),
      score('seo', 'SEO', last?.seo),
      listValue(`audits_${screen}`, `perf.audits.${screen}`, `To improve, ${screen}`, findingsOf(row?.others_data)),
      textValue(
        'moment',
        `lastcheck_${screen}`,
        `perf.lastcheck.${screen}`,
        `Last audit, ${screen}`,
        last === undefined ? null : isoTime(last.at),
      ),
      {
        key: `chart_${screen}`,
        token: `perf.chart.${screen}`,
        title: `Performance over time, ${screen}`,
        kind: 'chart',
        unit: '',
        max: 100,
        value: daily(
          ofScreen.map((point) => ({ at: point.at, value: point.performance })),
          zone,
        ),
      },
    ];
  });
  return {
    sections: [],
    values,
    notes: scores.length === 0 ? ['No audit was made in the range.'] : [],
    truncated: false,
  };
}

function findingsOf(json: string | undefined): { title: string; display_value: string }[] {
  const items = JSON.parse(json ?? '[]') as { title: string; display_value: string }[];
  return items.map(({ title, display_value }) => ({ title, display_value }));
}

/** One point a day, oldest first; the last one of each day. `points` are newest first. */
function daily(points: readonly { at: number; value: number | null }[], zone: string): ChartPoint[] {
  const byDay = new Map<string, number | null>();
  for (const { at, value } of points) {
    const date = wordpressTime(at, zone).slice(0, 10);
    if (!byDay.has(date)) byDay.set(date, value);
  }
  return [...byDay].map(([date, value]) => ({ date, value })).reverse();
}
