/** Schemas of the records in REST answers, for the interface description; the traffic test checks every answer against them. */

import { client } from '../../../../schemas/client.js';
import { costEntry, costRecord, costTotals } from '../../../../schemas/cost.js';
import { lastCheck, siteListItem, siteOfOwner, siteStats } from '../../../../schemas/site.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';

const int = () => z.number().int();
const textOrNull = () => z.string().nullable();
const bit = () => z.union([z.literal(0), z.literal(1)]);

export const simpleSiteShape = siteListItem;

/** `data` of an error. */
export const errorDataShape = once(() =>
  z
    .object({
      status: int(),
      field: z.string().optional(),
      advice: z.string().optional().describe('What the caller can do next.'),
      params: z
        .union([z.record(z.string()), z.array(z.string())])
        .optional()
        .describe('The reason for each wrong parameter, or a list of missing ones.'),
      details: z
        .record(z.object({ code: z.string(), message: z.string() }))
        .optional()
        .describe('By parameter.'),
      retry_after: z.number().optional().describe('Seconds.'),
    })
    .passthrough(),
);

export const errorShape = once(() =>
  z.object({
    success: z.literal(0),
    code: z.string(),
    message: z.string(),
    data: errorDataShape(),
  }),
);

export const failedShape = once(() =>
  z
    .array(
      z
        .object({
          site_id: int().optional(),
          slug: z.string().optional(),
          id: z.union([int(), z.string()]).optional(),
          code: z.string(),
          message: z.string(),
        })
        .passthrough(),
    )
    .describe('Items that failed, while others succeeded.'),
);

export const countShape = once(() => z.object({ total: int(), count: int().describe('The same as total.') }));

/** A paged list. */
export const listOf = (item: z.ZodTypeAny) =>
  z.object({ total: int(), page: int(), per_page: int(), pages: int(), data: z.array(item) });

/** A paged list that also supports paging by cursor. */
export const cursorListOf = (item: z.ZodTypeAny) =>
  listOf(item).extend({
    next_cursor: z.string().optional().describe('For the next page, if there is one.'),
  });

/** A paged list whose data is keyed by `key`. */
export const mapOf = (item: z.ZodTypeAny, key: string) =>
  z.object({ total: int(), page: int(), per_page: int(), pages: int(), data: z.record(item).describe(`By ${key}.`) });

/** One record, as returned by reads. */
export const recordOf = (item: z.ZodTypeAny) => z.object({ data: item });

/** One record, as returned by writes. */
export const writtenOf = (item: z.ZodTypeAny) => z.object({ message: z.string(), data: item });

export const withSite = once(() => ({ site: simpleSiteShape() }));

const tagShape = once(() => z.object({ id: int(), name: z.string(), color: textOrNull() }));

/** `tags` and `tag_list` are absent with `with_tags=false`. */
const tagFields = once(() => ({
  tags: z.record(z.string()).optional().describe('Names by tag id.'),
  tag_list: z.array(tagShape()).optional(),
}));

export const pluginShape = once(() =>
  z.object({
    slug: z.string(),
    name: z.string(),
    version: z.string(),
    description: z.string(),
    active: bit(),
    mu: bit().describe('1: a must-use plugin.'),
    is_child_agent: z.boolean(),
    update_version: textOrNull(),
  }),
);

export const themeShape = once(() =>
  z.object({
    slug: z.string(),
    name: z.string(),
    title: z.string(),
    version: z.string(),
    description: z.string(),
    active: bit(),
    parent_active: bit(),
    child_active: bit(),
    child_theme: textOrNull().describe("Slug of the active child theme's parent."),
    update_version: textOrNull(),
  }),
);

const offerShape = once(() =>
  z.object({
    Name: z.string(),
    Version: z.string(),
    current_version: z.string(),
    new_version: z.string(),
    update: z.object({ slug: z.string(), new_version: z.string() }),
  }),
);

export const ignoredShape = once(() =>
  z
    .record(z.object({ Name: z.string(), ignored_versions: z.array(z.string()) }))
    .describe('By slug; all_versions for every version.'),
);

const contents = (what: string) =>
  z
    .array(z.record(z.union([z.string(), z.number(), z.boolean()])))
    .describe(`Recent ${what} as the site reported them.`);

export const siteShape = once(() =>
  siteListItem().extend({
    client_name: textOrNull(),
    admin_username: z.string(),
    note: z.string(),
    notes: z.string(),
    ip: textOrNull(),
    is_staging: z.boolean(),
    suspended: bit(),
    wp_version: textOrNull(),
    php_version: textOrNull(),
    child_version: textOrNull(),
    mysql_version: textOrNull(),
    memory_limit: textOrNull(),
    database_size: textOrNull(),
    language: textOrNull(),
    timezone: textOrNull(),
    active_theme: textOrNull().describe('Name and version.'),
    http_status: textOrNull().describe('Such as "200 - OK", of the last check.'),
    http_code: int().nullable(),
    health_status: z.enum(['Good', 'Should be improved']).nullable(),
    health_score: int().min(0).max(100).nullable(),
    last_check: lastCheck(),
    status_reason: textOrNull().describe('Why the site is not connected; null = it is.'),
    status_since: textOrNull().describe('Since when it is not connected; null = unknown.'),
    sync_errors: z.string().describe('"" if the last sync succeeded.'),
    icon: z.null(),
    last_sync: textOrNull(),
    last_backup: z
      .object({
        plugin: textOrNull().describe(
          'The backup plugin that was asked; null = none that MainWP Child knows is active.',
        ),
        made_at: textOrNull().describe('null = unknown.'),
        looked_at: textOrNull().describe(
          'null = not asked yet: each sync asks about the plugin that the previous one found.',
        ),
      })
      .describe('By the site itself.'),
    last_post_time: textOrNull(),
    is_ignoreCoreUpdates: bit(),
    is_ignorePluginUpdates: bit(),
    is_ignoreThemeUpdates: bit(),
    verify_certificate: int(),
    force_use_ipv4: int(),
    ssl_version: int(),
    automatic_update: bit(),
    backup_before_upgrade: int(),
    disable_health_checking: int(),
    health_threshold: int(),
    monitoring_emails: z.array(z.string()),
    plugins: z.array(pluginShape()),
    themes: z.array(themeShape()),
    recent_posts: contents('posts'),
    recent_pages: contents('pages'),
    recent_comments: contents('comments'),
    categories: z.array(z.string()).describe('As the site reported them.'),
    wp_upgrades: z.object({ current: z.string(), new: z.string() }).nullable(),
    plugin_upgrades: z.record(offerShape()).describe('By slug.'),
    theme_upgrades: z.record(offerShape()).describe('By slug.'),
    premium_upgrades: z.object({}),
    translation_upgrades: z.array(
      z.object({ slug: z.string(), name: z.string(), version: z.string(), new_version: z.string() }),
    ),
    ignored_plugins: ignoredShape(),
    ignored_themes: ignoredShape(),
    stats: siteStats(),
    ...tagFields(),
  }),
);

/** An entry of a list: the full record, or with `full_data=false` the short one. */
export const siteOfList = once(() => z.union([siteShape(), siteListItem().extend(tagFields())]));

/** A plugin or theme that was acted on. */
export const namedShape = once(() => z.object({ slug: z.string(), name: z.string(), version: z.string() }));

export const slugErrors = once(() => z.array(z.object({ slug: z.string(), code: z.string(), message: z.string() })));

export const abandonedShape = once(() =>
  z.object({
    slug: z.string(),
    Name: z.string(),
    Version: z.string(),
    last_updated: int().describe('Unix seconds.'),
    last_updated_at: z.string(),
    installed: z.boolean(),
    active: bit(),
  }),
);

export const changeShape = once(() =>
  z.object({
    id: int(),
    type: z.string(),
    description: z.string(),
    user: z.string(),
    timestamp: z.string(),
    log_id: int(),
    site_id: int(),
    item: z.string(),
    user_id: int(),
    user_login: z.string(),
    action: z.string(),
    context: z.string(),
    created: int().describe('Unix seconds.'),
    duration: z.number().nullable(),
    log_site_name: z.string(),
    url: z.string(),
    source: z.enum(['wpadmin', 'dashboard']),
    via: z
      .string()
      .optional()
      .describe(
        'Where the call came from: mcp, run, rest, cli, jobs. Only for source dashboard, like the fields below.',
      ),
    operation: z.string().optional().describe('What was called; "" = done by the service automatically.'),
    result: z.enum(['done', 'failed']).optional(),
    error_code: z.string().optional().describe('Why it failed; "" = it did not.'),
  }),
);

/** Members of the answer of a call that continues as a job. */
export const queuedShape = once(() => ({
  queued: z.boolean().optional().describe('true: the work continues in the background.'),
  job_id: z.string().optional(),
  status_url: z.string().optional(),
  sites_queued: int().optional(),
  notice: z.string().optional().describe('What is unusual about how this job will run.'),
}));

export const actedSite = once(() =>
  siteOfOwner().extend({
    result: z.enum(['success', 'failed', 'would_run']),
    code: z.string().optional(),
    error: z.string().optional(),
    http_code: int().nullable().optional(),
    response_time_ms: z.number().nullable().optional(),
    reachable: z.boolean().optional(),
  }),
);

export const clientOfSite = once(() => client().extend({ client_id: int() }).nullable());

const costOfSite = once(() => costRecord().extend({ ...costEntry().shape }));
export const siteCostsShape = once(() =>
  z.object({
    message: z.string().optional(),
    total: int(),
    data: z.record(costOfSite()).describe('By cost id; amount is the share of this site.'),
    ...costTotals(),
    ...withSite(),
  }),
);

export const keyShape = once(() =>
  z.object({
    id: z.union([int(), z.string()]).describe('A number, or ck_… of a legacy key.'),
    user_id: int().nullable(),
    version: z.enum(['v1', 'v2']),
    description: z.string(),
    permissions: z.array(z.string()).describe('Titles for people.'),
    permissions_raw: z.string(),
    truncated_key: z.string(),
    active: z.boolean(),
    last_access: textOrNull(),
  }),
);

export const userShape = once(() =>
  z.object({
    id: int(),
    name: z.string(),
    right: z.enum(['read', 'write']).describe('write may also read.'),
    may_approve: z.boolean().describe('May let changes happen that wait for approval.'),
    active: z.boolean(),
    has_password: z.boolean().describe('false = only a login link lets this user in, until a password is chosen.'),
    api_keys: int().describe('API keys that the user made.'),
    created: z.string(),
  }),
);

const verdict = once(() => z.string().describe('Y is good, N an issue.'));

export const securityShape = once(() =>
  z
    .object({
      security_issues: z.array(z.object({ type: z.string(), severity: z.string(), message: z.string() })),
      ssl_status: z.object({
        valid: z.boolean().nullable().describe('false also without https; null = none was seen.'),
        expires: textOrNull(),
        checked_at: textOrNull(),
      }),
    })
    .catchall(verdict()),
);

/** One visit of the front page. */
export const visitShape = once(() =>
  siteListItem().extend({
    http_code: int().describe('0 without an answer.'),
    response_time_ms: z.number().nullable(),
    reachable: z.boolean(),
  }),
);
