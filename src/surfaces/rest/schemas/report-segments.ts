/** The contents of each report segment: rows by section, and figures, each with its token (REST §6.8.2). */

import { SEGMENTS, type Segment } from '../../../../schemas/report.js';
import { z } from '../../../../schemas/zod.js';
import { ACTIVITIES, type Activity } from '../../../domain/reports/activity-words.js';
import { RECORD_SEGMENTS, type RecordSegment } from '../../../domain/reports/record-segments.js';
import { auditShape, certificateShape, domainShape, miscShape, websiteShape } from './report-figures.js';
import {
  always,
  known,
  listed,
  maybe,
  type ReportedValue,
  reported,
  type SectionShape,
  type SegmentShape,
  watched,
} from './report-values.js';

const pendingMembers = (token: string) => ({
  name: reported(`${token}.name`),
  slug: reported(`${token}.slug`),
  current_version: reported(`${token}.current.version`),
  new_version: reported(`${token}.new.version`),
});

const abandonedMembers = (token: string) => ({
  name: reported(`${token}.name`),
  slug: reported(`${token}.slug`),
  version: reported(`${token}.version`),
  last_updated: {
    token: 'last.updated',
    plain: z.string().date(),
    raw: z.string().date(),
  },
});

function present(token: string, members: (token: string) => Record<string, ReportedValue>, word: string): SectionShape {
  return { countToken: `${token}.${word}.count`, members: members(token), when: null };
}

function activityShape(segment: Segment, { token, nameToken, versions: versioned }: Activity): SegmentShape {
  const section = (action: string): SectionShape => {
    if (action === 'pending') return present(token, pendingMembers, action);
    if (action === 'abandoned') return present(token, abandonedMembers, action);
    const of = `${token}.${action}`;
    const versions = {
      old_version: reported(`${token}.old.version`),
      current_version: reported(`${token}.current.version`),
    };
    const members = {
      [nameToken]: reported(`${token}.${nameToken}`),
      ...(versioned ? { slug: reported(`${token}.slug`) } : {}),
      author: reported(`${of}.author`),
      ...(versioned && action === 'updated' ? versions : {}),
      ...(token === 'user' ? { role: reported(`${of}.role`) } : {}),
      ...(versioned ? {} : { detail: reported(`${of}.detail`) }),
    };
    return { countToken: `${of}.count`, members, when: of };
  };
  const sections = Object.fromEntries(SEGMENTS[segment].map((action) => [action, section(action)]));
  return { sections, byAction: true, figures: {} };
}

/** Dates that fall back to those of the report when there is no record. */
const RANGE_KEYS: ReadonlySet<string> = new Set(['startdate', 'enddate']);

function recordShape(segment: Segment, spec: RecordSegment): SegmentShape {
  const section = (action: string): SectionShape => {
    const of = `${spec.token}.${action}`;
    // A record has at least one member set, so a single one is always known.
    const form = spec.row.length === 1 ? known : maybe;
    const members = spec.row.map(({ key, title, kind }) => [key, form(`${of}.${key}`, title, kind)] as const);
    return { countToken: `${of}.count`, members: Object.fromEntries(members), when: of };
  };
  const figures = spec.figures.map(({ key, token, title, kind }) => {
    if (key in spec.sums) return [key, always(token, `${title}, over the range`, z.number())] as const;
    const form = RANGE_KEYS.has(key) ? known : maybe;
    return [key, form(token, title, kind)] as const;
  });
  return {
    sections: Object.fromEntries(SEGMENTS[segment].map((action) => [action, section(action)])),
    byAction: true,
    others: spec.thirdParty,
    figures: Object.fromEntries(figures),
  };
}

function uptimeShape(): SegmentShape {
  const state = z.object({ state: z.enum(['up', 'down']), seconds: z.number().int().min(0) });
  const windows = [7, 15, 30, 45, 60].map(
    (days) => [`uptime${days}`, maybe(`uptime.uptime${days}`, `Last ${days} days of the range`, 'percent')] as const,
  );
  const ended = 'uptime.incident.ended';
  return {
    byAction: false,
    sections: {
      incidents: {
        countToken: 'uptime.incidents.count',
        when: 'uptime.incident',
        members: {
          ended_at: {
            token: ended,
            plain: z.string().datetime().nullable().describe('null = ongoing.'),
            raw: z.string().describe('ISO 8601, or "" while ongoing.'),
          },
          duration_sec: always('uptime.incident.duration', 'Seconds', z.number().int().min(0)),
          reason: reported('uptime.incident.reason'),
        },
      },
    },
    figures: {
      rangeuptimeratio: maybe('uptime.rangeuptimeratio', 'Within the range', 'percent'),
      alltimeuptimeratio: maybe('uptime.alltimeuptimeratio', 'Since the first check', 'percent'),
      ...Object.fromEntries(windows),
      stats: listed('uptime.stats', 'Time in each state within the range', state),
      numberofincidents: watched('uptime.numberofincidents', 'Incidents in the range', z.number().int().min(0)),
      responsetime_average: maybe('uptime.responsetime.average', 'Response time, average', 'ms'),
      responsetime_min: maybe('uptime.responsetime.min', 'Response time, shortest', 'ms'),
      responsetime_max: maybe('uptime.responsetime.max', 'Response time, longest', 'ms'),
      startdate: known('uptime.startdate', 'From', 'date'),
      enddate: known('uptime.enddate', 'To', 'date'),
      chart: maybe('uptime.chart', 'Uptime by day, %', 'chart'),
      status: {
        token: 'uptime.status',
        plain: z.enum(['up', 'down', 'pending']).nullable(),
        raw: z.enum(['up', 'down', 'pending', '']),
      },
    },
  };
}

function abandonedShape(): SegmentShape {
  const sections = {
    plugins: present('plugin', abandonedMembers, 'abandoned'),
    themes: present('theme', abandonedMembers, 'abandoned'),
  };
  return { sections, byAction: false, figures: {} };
}

function pendingShape(): SegmentShape {
  const sections = {
    platform: present('platform', pendingMembers, 'pending'),
    plugins: present('plugin', pendingMembers, 'pending'),
    themes: present('theme', pendingMembers, 'pending'),
    translations: present('translation', pendingMembers, 'pending'),
  };
  return { sections, byAction: false, figures: {} };
}

const OWN: Partial<Record<Segment, () => SegmentShape>> = {
  domainmonitor: domainShape,
  sslmonitor: certificateShape,
  'perf-audit': auditShape,
  uptime: uptimeShape,
  website: websiteShape,
  misc: miscShape,
  abandoned: abandonedShape,
  pending: pendingShape,
};

export function segmentShape(segment: Segment): SegmentShape {
  const [activity, records, own] = [ACTIVITIES[segment], RECORD_SEGMENTS[segment], OWN[segment]];
  if (activity !== undefined) return activityShape(segment, activity);
  if (records !== undefined) return recordShape(segment, records);
  if (own !== undefined) return own();
  throw new Error(`There is no schema of the report segment ${segment}.`);
}
