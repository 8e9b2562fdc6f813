/** Schemas of the answers over the whole fleet, and of the steps of safe updates. */

import { timestamp } from '../../../../schemas/common.js';
import { JOB_TYPES, TOOL_JOB_TYPES } from '../../../../schemas/job.js';
import { protection } from '../../../../schemas/safety.js';
import { LEVELS } from '../../../../schemas/search.js';
import { siteStatus } from '../../../../schemas/site.js';
import { SEVERITIES, SOFTWARE_TYPES } from '../../../../schemas/vulnerability.js';
import { z } from '../../../../schemas/zod.js';
import { ATTENTION } from '../../../domain/fleet/attention.js';
import { UNDO } from '../../../domain/fleet/changes.js';
import { MARK_STATES } from '../../../domain/fleet/marks.js';
import { UPDATE_TYPES } from '../../../domain/updates/results.js';
import { once } from '../../../runtime/once.js';
import { listOf } from './records.js';

const int = () => z.number().int();
const versions = () => z.array(z.string()).describe('Newest first.');
const level = once(() =>
  z.enum(LEVELS).nullable().describe('Which part of the version changes; null = a version is unknown.'),
);

const markShape = () => ({
  subject: z.string().nullable().describe('For POST /fleet/attention/mark; null = cannot be set aside.'),
  mark: z.enum(MARK_STATES).nullable().describe('null = nobody has set it aside.'),
  mark_at: timestamp().nullable(),
  mark_until: timestamp().nullable().describe('When a snooze ends.'),
  mark_by: z.string(),
  mark_note: z.string(),
});

export const asideShape = once(() =>
  z.object({
    subject: z.string(),
    site_id: int().nullable().describe('null = concerns no single site.'),
    title: z.string(),
    state: z.enum([...MARK_STATES, 'open']).describe('open = not set aside.'),
    at: timestamp(),
    until: timestamp().nullable(),
    by: z.string(),
    note: z.string(),
  }),
);

const mattersShape = once(() =>
  z
    .array(
      z.object({
        matter: z.enum(ATTENTION),
        count: int(),
        cases: z.array(
          z.object({
            site_id: int().nullable(),
            site_name: z.string().nullable(),
            site_url: z.string().nullable(),
            at: timestamp()
              .nullable()
              .describe('When it began, happened or expires; for not_synced, the last sync. null = unknown.'),
            http_status: int().nullable().optional().describe('0 = no answer.'),
            reason: z.string().nullable().optional(),
            suspect: z
              .object({
                type: z.string(),
                slug: z.string(),
                name: z.string(),
                old_version: z.string(),
                new_version: z.string(),
              })
              .optional()
              .describe('The last update within the hour before.'),
            change_id: z.string().optional(),
            item: z.string().optional(),
            item_type: z.enum(SOFTWARE_TYPES).optional(),
            item_slug: z.string().optional(),
            item_name: z.string().optional(),
            title: z.string().optional().describe('Of its worst vulnerability.'),
            known: int().optional().describe('Vulnerabilities of the item.'),
            old_version: z.string().optional(),
            new_version: z.string().optional(),
            seen: z.array(z.string()).optional(),
            severity: z.enum(SEVERITIES).nullable().optional().describe('null = not rated.'),
            unfixed: z.boolean().optional().describe('For one of its vulnerabilities, no fixed version is known.'),
            ...markShape(),
            acknowledged_at: timestamp().nullable().optional(),
            incident_id: int().nullable().optional(),
            job_id: z.string().optional(),
            job_type: z.enum(JOB_TYPES).optional(),
            run_id: z.string().optional(),
            failed: int().optional().describe('Of a job its sites; of update_failed the updates with this reason.'),
            total: int().optional().describe('Sites.'),
          }),
        ),
      }),
    )
    .describe('Worst first.'),
);

export const attentionShape = once(() =>
  z.object({
    as_of: timestamp(),
    sites: z.object({ total: int(), connected: int(), disconnected: int(), suspended: int() }),
    updates: z
      .object({ major: int(), minor: int(), patch: int(), unknown: int() })
      .describe('Available updates, by level.'),
    matters: mattersShape(),
    done: z
      .array(z.object({ context: z.string(), action: z.string(), count: int(), sites: int() }))
      .describe('In the last 24 hours.'),
    not_known: z
      .object({
        monitors: int(),
        certificates: int(),
        domains: int(),
        backups: int(),
        vulnerabilities: int().nullable(),
      })
      .describe('Sites for which this is unknown; vulnerabilities null = not known for any site.'),
    vulnerability_note: z.string().nullable().describe('Why the list of vulnerabilities is incomplete.'),
  }),
);

export const fleetChangeShape = once(() =>
  z.object({
    id: int().describe('For the roll-back of an update and for POST /actions/undo, as change_id.'),
    at: timestamp(),
    site_id: int().nullable().describe('null = not on a site.'),
    site_name: z.string().nullable(),
    url: z.string().nullable(),
    kind: z.string(),
    action: z.string(),
    what: z.string().describe('As a sentence.'),
    item: z.string(),
    slug: z.string().optional(),
    old_version: z.string(),
    new_version: z.string(),
    by: z.string(),
    via: z.string().describe('site = on the site itself.'),
    result: z.enum(['done', 'failed']),
    action_id: int().nullable().describe('For POST /actions/undo; null = the log does not have what it replaced.'),
    undo: z.enum(UNDO).nullable().describe('What undoes it; null = nothing does, or the site has changed since.'),
  }),
);

export const fleetChangesMore = once(() => ({
  since: timestamp(),
  until: timestamp(),
  kinds: z
    .array(z.object({ kind: z.string(), action: z.string(), count: int(), failed: int().optional() }))
    .describe('Most frequent first.'),
  more_kinds: int().optional().describe('Kinds not listed in kinds.'),
  not_known: z.array(z.string()).optional().describe('What no log of the sites records.'),
}));

export const fleetDayShape = once(() =>
  z
    .object({
      date: z.string(),
      connected: int().nullable().describe('Not down.'),
      down: int().nullable().describe('Connected, but down by their monitors.'),
      disconnected: int().nullable(),
      suspended: int().nullable(),
      updates: int().nullable().describe('Pending.'),
      vulnerable: int().nullable().describe('Sites; null without a vulnerability feed.'),
      uptime: z.number().nullable().describe('Percent, of all monitored sites; null until the day is over.'),
    })
    .describe('null = not known.'),
);

export const siteAttentionShape = once(() => z.object({ as_of: timestamp(), matters: mattersShape() }));

export const offeredItemShape = once(() =>
  z.object({
    type: z.enum(UPDATE_TYPES),
    slug: z.string(),
    name: z.string(),
    sites: int(),
    guarded: int().describe('How many of these sites have a guard that answered when last asked.'),
    level: level(),
    current_versions: versions(),
    new_versions: versions(),
    held_back: z
      .array(z.string())
      .describe('Newer versions that are quarantined on some sites; those sites are in no other member.'),
    fixing_sites: int().nullable().describe('Sites on which it fixes a known vulnerability; null = unknown.'),
    fixes: z.array(z.string()).describe('Known vulnerabilities it fixes, at most 5.'),
  }),
);

export const offeredSiteShape = once(() =>
  z.object({
    site_id: int(),
    site_name: z.string(),
    site_url: z.string(),
    site_status: siteStatus(),
    current_version: z.string().nullable(),
    new_version: z.string(),
    level: level(),
    guarded: z.boolean().nullable().describe('null = its guard was never checked, or did not answer.'),
  }),
);

export const planShape = once(() =>
  listOf(
    z.object({
      site_id: int(),
      site_name: z.string(),
      site_url: z.string(),
      site_status: siteStatus(),
      namesake: z.boolean().describe('Another site has the same name.'),
      guarded: z.boolean().nullable().describe('null = its guard was never checked, or did not answer.'),
      down: z.boolean().describe('According to its monitor, or when last checked.'),
      obstacle: z.string().nullable().describe('Why it cannot be updated; null = it can.'),
      cells: z.array(
        z.object({
          item: int().describe('Place in items.'),
          current_version: z.string(),
          new_version: z.string(),
          level: level(),
          quarantined: z.boolean().describe('Quarantined on this site: it is not applied.'),
          quarantined_elsewhere: z.boolean().describe('It broke another site.'),
          needs: z
            .string()
            .nullable()
            .describe('What the site lacks for it, such as PHP 8.4: it is not applied; null = nothing.'),
        }),
      ),
    }),
  ).extend({
    item_page: int(),
    items_per_page: int(),
    total_items: int(),
    items: z.array(
      z.object({
        type: z.enum(UPDATE_TYPES),
        slug: z.string(),
        name: z.string(),
        level: level(),
        sites: int().describe('On which it would be applied.'),
        quarantined: int().describe('Sites on which its version is quarantined.'),
      }),
    ),
    totals: z.object({
      updates: int(),
      sites: int(),
      unguarded_sites: int().describe('Of the sites of which a plugin or theme is updated.'),
      quarantined: int(),
      major: int(),
      core: int(),
      plugins: int(),
      themes: int(),
      translations: int(),
    }),
  }),
);

export const jobEntryShape = once(() =>
  z.object({
    job_id: z.string(),
    type: z.enum([...JOB_TYPES, ...TOOL_JOB_TYPES]),
    status: z.enum(['queued', 'processing', 'completed', 'failed']),
    processed: int(),
    total: int(),
    succeeded: int(),
    failed: int(),
    by: z.string().nullable().describe('Who queued it; null = the service itself.'),
    queued_at: timestamp(),
    started_at: timestamp().nullable(),
    completed_at: timestamp().nullable(),
  }),
);

export const safeChangeShape = once(() =>
  z.object({
    change_id: z.string(),
    run_id: z.string(),
    type: z.enum(UPDATE_TYPES),
    slug: z.string(),
    name: z.string(),
    old_version: z.string(),
    new_version: z.string(),
    protection: protection(),
    step: z
      .enum(['snapshot', 'arm', 'update', 'probe', 'restore', 'disarm'])
      .describe('Current step; the last one for an item that has ended.'),
    outcome: z.enum(['kept', 'rolled_back', 'not_updated', 'broken']).nullable().describe('null = in progress.'),
    seen: z.array(z.string()),
    suspect: z.array(z.string()),
    put_back_by: z.enum(['sitefleet', 'guard']).nullable(),
    well_after_ms: int().nullable(),
    started_at: timestamp(),
    updated_at: timestamp().nullable(),
    settled_at: timestamp().nullable(),
  }),
);
