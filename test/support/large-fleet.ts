/**
 * Ten thousand sites as rows, with what such a fleet gathers in half a year: made by a few statements, without a site that
 * answers, and the same every time.
 */

import type { Db } from '../../src/store/driver/db.js';

export const LARGE = { sites: 10_000, plugins: 30, packages: 2_000, themes: 100, clients: 1_000, tags: 20 };
const { sites, plugins, packages, themes, clients, tags } = LARGE;

const DAY = 86_400_000;
const WORDS = ['bakery', 'clinic', 'design', 'fitness', 'garage', 'hotel', 'market', 'press', 'school', 'studio'];

/** One of this many numbers from 0, spread over the rows by one or two of their numbers. */
const spread = (of: number, a: string, b = '7') => `((${a} * 48271 + ${b} * 7919 + ${a} * ${b} % 613) % 65537 % ${of})`;
const series = (to: number, name = 'i', from = 1) => `(SELECT value AS ${name} FROM generate_series(${from}, ${to}))`;
const among = (words: readonly string[], at: string) =>
  `CASE ${spread(words.length, at)} ${words.map((word, i) => `WHEN ${i} THEN '${word}'`).join(' ')} END`;
/** The number of the plugin at a place of a site: most sites have the first ones. */
const plugin = `(1 + (k * k * 2 + ${spread(3, 's', 'k')} + CASE WHEN k > 10 THEN ${spread(1700, 's', 'k')} ELSE 0 END) % ${packages})`;
const version = `(1 + ${spread(4, 's', 'k')}) || '.' || ${spread(9, 's', 'k + 1')} || '.0'`;

/** @param now what everything ends before */
function statements(now: number): string[] {
  const origin = `'{"type":"user","id":1,"name":"admin","via":"rest","operation":"","request_id":""}'`;
  return [
    `INSERT INTO client (id, name, name_key, email, email_key, suspended, created_at, updated_at)
     SELECT i, 'Client ' || i, 'client ' || i, 'c' || i || '@mail.example', 'c' || i || '@mail.example', i % 50 = 0, ${now}, ${now}
     FROM ${series(clients)}`,
    `INSERT INTO tag (id, name, name_key, created_at, updated_at) SELECT i, 'Tag ' || i, 'tag ' || i, ${now}, ${now} FROM ${series(tags)}`,
    `INSERT INTO package (id, kind, slug, name, description)
     SELECT i, 0, printf('plugin-%d/plugin-%d.php', i, i), printf('Plugin number %d', i), 'What it does.' FROM ${series(packages)}
     UNION ALL SELECT ${packages} + i, 1, printf('theme-%d', i), printf('Theme %d', i), '' FROM ${series(themes)}`,
    `INSERT INTO site (id, url, url_key, name, search, client_id, suspended, sync_error, created_at)
     SELECT i, 'https://' || host || '/', host || '/', word || ' ' || i, word || ' ' || i || char(31) || 'https://' || host || '/',
       1 + ${spread(clients, 'i')}, i % 61 = 0, CASE WHEN i % 43 = 0 THEN 'The site did not answer.' ELSE '' END, ${now - 400 * DAY}
     FROM (SELECT i, word, word || '-' || i || '.example' AS host FROM (SELECT i, ${among(WORDS, 'i')} AS word FROM ${series(sites)}))`,
    `INSERT INTO site_detail (site_id, admin_username, child_version, wp_version, php_version, health_good, health_recommended,
       health_critical, last_sync, last_attempt, status_since, http_status, checked_at, reachable, abandoned_checked_at, abandoned_known_at)
     SELECT i, 'admin', '6.1.' || ${spread(4, 'i', '1')}, '6.' || ${spread(9, 'i', '2')} || '.' || ${spread(3, 'i', '3')},
       CASE WHEN i % 97 = 0 THEN '' ELSE '8.' || ${spread(5, 'i', '4')} || '.' || ${spread(6, 'i', '5')} END, 12, i % 5, i % 3,
       CASE WHEN i % 89 > 0 THEN ${now} - ${spread(43_200, 'i')} * 1000 - (i % 53 = 0) * ${20 * DAY} END, ${now} - i * 60,
       CASE WHEN i % 7 > 0 THEN ${now} - i * 60000 END, 200, ${now} - i * 600, i % 71 > 0, ${now}, ${now} FROM ${series(sites)}`,
    `INSERT INTO site_tag (site_id, tag_id) SELECT DISTINCT i, 1 + ${spread(tags, 'i', 't')} FROM ${series(sites)}, ${series(2, 't')}`,
    `INSERT OR IGNORE INTO site_extension (site_id, kind, package_id, position, version, active, update_version)
     SELECT s, 0, ${plugin}, k, ${version}, s * k % 11 > 0, CASE WHEN (s + 7 * k) % 17 = 0 THEN ${version} || '.1' END
     FROM ${series(sites, 's')}, ${series(plugins, 'k')}
     UNION ALL SELECT s, 1, ${packages} + 1 + ${spread(themes, 's', 'k')}, k, '1.0', k = 1, NULL FROM ${series(sites, 's')}, ${series(3, 'k')}`,
    // Set apart: the list of updates by site is read from these rows.
    `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, level, ignored, url_key)
     SELECT e.site_id, 1, p.slug, e.position, p.name, e.version, e.update_version, ${spread(3, 'e.site_id', 'e.package_id')},
       CASE (e.site_id + e.position) % 31 WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE 0 END, s.url_key
     FROM site_extension e JOIN package p ON p.id = e.package_id JOIN site s ON s.id = e.site_id WHERE e.update_version IS NOT NULL
     UNION ALL SELECT id, 0, 'platform', 0, 'WordPress', '6.8.1', '6.8.2', 0, 0, url_key FROM site WHERE id % 5 = 0
     UNION ALL SELECT id, 3, 'de_DE', 0, 'Deutsch', '1', '2', 2, 0, url_key FROM site WHERE id % 9 = 0`,
    `UPDATE update_count SET n = (SELECT count(*) FROM site_update u WHERE u.type = update_count.type AND u.ignored = 0),
       sites = (SELECT count(DISTINCT site_id) FROM site_update u WHERE u.type = update_count.type AND u.ignored = 0)`,
    'UPDATE offering_site_count SET n = (SELECT count(DISTINCT site_id) FROM site_update WHERE ignored = 0)',
    'UPDATE site_count SET n = (SELECT count(*) FROM site s WHERE s.status = site_count.status)',
    `INSERT INTO site_record_text (site_id, plugins, themes, active_theme) SELECT id, '[]', '[]', NULL FROM site`,
    `INSERT INTO ignored_update (site_id, type, slug, version, name) SELECT i, 1, 'plugin-1/plugin-1.php', '*', 'Plugin number 1' FROM ${series(2000)}`,
    `INSERT INTO ignored_everywhere (type, slug, version, name) SELECT 1, 'plugin-' || i || '/plugin-' || i || '.php', '*', 'Plugin number ' || i FROM ${series(5)}`,
    `INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key)
     SELECT id, k, 'old-' || id % 40, 'Old ' || id % 40, '1.0', ${now / 1000 - 1000 * 86_400} - id, url_key FROM site, ${series(1, 'k', 0)}`,
    `INSERT INTO site_security (site_id, check_id, value) SELECT i, 'debug_disabled', CASE WHEN i % 4 THEN 'Y' ELSE 'N' END FROM ${series(sites)}`,
    `INSERT INTO site_guard (site_id, present, looked_at) SELECT i, i % 2, ${now} FROM ${series(sites / 2)}`,
    // What watches them.
    `UPDATE monitor SET status = CASE WHEN site_id % 67 = 0 THEN 0 WHEN site_id % 29 = 0 THEN 2 WHEN site_id % 31 = 0 THEN 99 ELSE 1 END,
       active = CASE WHEN site_id % 37 = 0 THEN 0 END, last_check_at = ${now} - site_id * 20, last_http_code = 200,
       last_ping_ms = ${spread(900, 'site_id')}, next_check_at = ${now} + site_id * 20`,
    `INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count)
     SELECT i, ${now} - ${spread(40_000, 'i', 'k')} * 60000 - ${DAY}, ${now} - ${spread(40_000, 'i', 'k')} * 60000, 500, 'down', 1
     FROM ${series(sites)}, ${series(2, 'k')} UNION ALL
     SELECT i, ${now} - i * 1000, NULL, 500, 'down', 1 FROM ${series(sites)} WHERE i % 67 = 0`,
    `INSERT INTO heartbeat (site_id, at, status, important, ping_ms, http_code, duration, down_count, msg)
     SELECT 1, ${now} - i * 300000, i % 50 > 0, i % 50 < 2, 80, 200, 300, 0, '' FROM ${series(50_000)}`,
    `INSERT INTO monitor_hour SELECT s, ${Math.floor(now / 3_600_000)} - k, 3600 - s % 60, s % 60, 0, 12, 900, 50, 200
     FROM ${series(sites, 's')}, ${series(12, 'k')}`,
    `INSERT INTO monitor_day SELECT s, ${Math.floor(now / DAY)} - k, 86400 - s % 600, s % 600, 0, 288, 9000, 50, 200
     FROM ${series(sites, 's')}, ${series(10, 'k')}`,
    `UPDATE monitor_engine SET summed_day = ${Math.floor(now / DAY) - 1}`,
    `INSERT OR REPLACE INTO fleet_day SELECT ${Math.floor(now / DAY)} - i, ${sites}, 3, 2, 5, 100, 20, 8e8, 1e5 FROM ${series(400)}`,
    `INSERT INTO site_certificate (site_id, status, good, issuer_o, valid_from, valid_to, last_check)
     SELECT i, ${among(['valid', 'valid', 'valid', 'expiring', 'expired', 'invalid', 'unknown'], 'i')}, 1, 'CA', ${now - 60 * DAY},
       ${now} + ${spread(80, 'i')} * ${DAY}, ${now} FROM ${series(sites)} WHERE i % 19 > 0`,
    `INSERT INTO domain (name, registrar, expiry_date, source, last_check)
     SELECT 'd' || i || '.example', 'Registrar', CASE WHEN i % 23 > 0 THEN ${now} + ${spread(600, 'i')} * ${DAY} END, 'rdap', ${now} FROM ${series(sites * 0.8)}`,
    `INSERT INTO site_domain (site_id, domain) SELECT i, 'd' || (1 + i % ${sites * 0.8}) || '.example' FROM ${series(sites)} WHERE i % 41 > 0`,
    `INSERT INTO alert (key, kind, site_id, at, facts, delivered_at) SELECT 'a' || i, 'monitor_down', 1 + ${spread(sites, 'i')}, ${now} - i * 60000, '{}', ${now}
     FROM ${series(20_000)}`,
    `INSERT INTO alert_recipient (id, uid, name, type, target, host, created_at) SELECT i, 'u' || i, 'Chat ' || i, 'webhook', 'kNONE', 'chat.example', ${now} FROM ${series(5)}`,
    `INSERT INTO alert_delivery (alert_id, recipient_id, status, next_try_at, created_at, ended_at)
     SELECT i, k, CASE WHEN i % 50 = 0 THEN 'dead' ELSE 'sent' END, ${now}, ${now} - i, ${now} - i FROM ${series(20_000)}, ${series(2, 'k')}`,
    `INSERT INTO attention_mark (subject, site_id, title, state, at, until, by_name, note)
     SELECT 'stale:' || i, i, 'Not synced', CASE WHEN i % 2 THEN 'on_it' ELSE 'aside' END, ${now}, NULL, 'Ada', '' FROM ${series(60)}`,
    // What is known to be vulnerable.
    `INSERT INTO vulnerability_feed (id, source, tried_at, checked_at, read_at, next_at, entries) VALUES (1, 'https://feed.example/', ${now}, ${now}, ${now}, ${now + DAY}, 5000)`,
    `INSERT INTO vulnerability (id, uid, digest, title, severity, published) SELECT i, 'v' || i, '', 'A hole ' || i, i % 5, ${now - 90 * DAY} FROM ${series(5000)}`,
    `INSERT INTO vulnerable_version (package_id, version, vulnerability_id, fixed_in)
     SELECT package_id, version, 1 + ${spread(5000, 'package_id', 'n')}, CASE WHEN n % 3 THEN '9.9' END FROM (
       SELECT package_id, version, row_number() OVER (ORDER BY package_id, version) AS n FROM (SELECT DISTINCT package_id, version FROM site_extension WHERE kind = 0)
     ) WHERE n % 40 = 0`,
    `INSERT INTO vulnerable_version (package_id, version, vulnerability_id) VALUES (0, '6.1.1', 7)`,
    `INSERT INTO quarantined_version (type, slug, version, name, site_id, site_url, change_id, evidence, created_at, lifted_at, scope)
     SELECT 1, 'plugin-' || i || '/plugin-' || i || '.php', '2.1.0.1', 'Plugin number ' || i, i, 'https://x.example/', 'c' || i, '[]', ${now} - i, CASE WHEN i % 3 = 0 THEN ${now} END, 'fleet'
     FROM ${series(200)}`,
    // What was done.
    `INSERT INTO action_log (at, actor_type, actor_id, actor, via, operation, request_id, site_id, context, action, slug, name, old_version, new_version, code, previous, hash)
     SELECT ${now} - (30000 - i) * 60000, 'user', 1, ${among(['admin', 'ada', 'ben'], 'i')}, ${among(['rest', 'mcp', 'jobs'], 'i')}, ${among(['svc/run-updates-v1', 'svc/sync-sites-v1', ''], 'i')},
       'r' || i / 10, CASE WHEN i % 10 THEN 1 + ${spread(sites, 'i')} END, ${among(['plugin', 'site', 'core', 'plugin', 'theme', 'call'], 'i')},
       ${among(['updated', 'updated', 'synced', 'activated'], 'i')}, 'plugin-' || i % 50 || '/plugin-' || i % 50 || '.php', 'Plugin number ' || i % 50, '1.0', '1.1', CASE WHEN i % 40 = 0 THEN 'svc_site_offline' ELSE '' END, '', 'h' || i
     FROM ${series(30_000)}`,
    `INSERT INTO site_change (site_id, source, child_id, context, action, item, slug, user_login, user_id, created)
     SELECT 1 + ${spread(sites, 'i')}, 'wp-admin', i, ${among(['plugins', 'themes', 'posts', 'users'], 'i')}, ${among(['updated', 'activated', 'created'], 'i')}, 'Item ' || i % 70, 'plugin-' || i % 50, 'user' || i % 30, 1, ${now / 1000} - i * 60
     FROM ${series(30_000)}`,
    `INSERT INTO update_run (id, started_at, ended_at, owner, actor, origin, asked, sites)
     SELECT 'run_' || i, ${now} - i * 3600000, ${now} - i * 3600000 + 60000, '', ${among(['admin', 'ada'], 'i')}, ${origin}, '{"types":[1],"specific_items":[]}', 20 FROM ${series(1000)}`,
    `INSERT INTO update_run_item (run_id, site_id, type, slug, name, old_version, new_version, protection, state, change_id, finished_at)
     SELECT 'run_' || i, k, 1, 'plugin-' || k % 9 || '/p.php', 'Plugin', '1.0', '1.1', 'guard', ${among(['kept', 'kept', 'kept', 'rolled_back', 'failed', 'skipped'], 'k')}, 'change_' || i || '_' || k, ${now} - i * 3600000
     FROM ${series(1000)}, ${series(20, 'k')} WHERE i > 1
     UNION ALL SELECT 'run_1', i, 1, 'plugin-1/p.php', 'Plugin', '1.0', '1.1', 'guard', ${among(['kept', 'kept', 'kept', 'rolled_back', 'failed', 'skipped'], 'i')}, 'change_1_' || i, ${now} - i FROM ${series(sites)}`,
    `INSERT INTO run_receipt (run_id, site_id, document, signature, public_key) SELECT 'run_1', i, '{}', '', '' FROM ${series(sites)}`,
    `INSERT INTO safe_change (id, run_id, site_id, position, type, slug, name, old_version, new_version, protection, step, outcome, evidence, started_at, updated_at, settled_at)
     SELECT change_id, run_id, site_id, 0, type, slug, name, old_version, new_version, 'guard', 'settled',
       CASE state WHEN 'kept' THEN 'kept' WHEN 'rolled_back' THEN 'rolled_back' WHEN 'failed' THEN 'broken' ELSE 'not_updated' END, '{}', finished_at, finished_at, finished_at FROM update_run_item`,
    `INSERT INTO rollout_plan (id, digest, maker, maker_name, created_at, expires_at, rules)
     SELECT 'plan_' || i, 'd' || i, 'user:1', 'admin', ${now} - i, ${now + DAY}, '{}' FROM ${series(100)}`,
    `INSERT INTO rollout_plan_item (plan_id, site_id, type, slug, name, old_version, new_version, level, protection, wave)
     SELECT 'plan_1', site_id, type, slug, name, old_version, new_version, 1, protection, site_id % 3 FROM update_run_item WHERE run_id = 'run_1'`,
    `INSERT INTO rollout (id, plan_id, digest, rules, state, actor, origin, started_at, ended_at, settled_at)
     SELECT 'rollout_' || i, 'plan_' || i, 'd' || i, '{}', CASE i WHEN 1 THEN 'running' ELSE 'completed' END, 'admin', ${origin}, ${now} - i * 3600000, CASE WHEN i > 1 THEN ${now} END, CASE WHEN i > 1 THEN ${now} END FROM ${series(40)}`,
    `INSERT INTO rollout_wave (rollout_id, wave, sites, items) SELECT 'rollout_1', i, 3334, 3334 FROM ${series(2, 'i', 0)}`,
    `INSERT INTO rollout_site (rollout_id, site_id, wave) SELECT 'rollout_1', i, i % 3 FROM ${series(sites)}`,
    // What waits.
    `INSERT INTO job (id, type, params, status, total, chunk, delay_ms, timeout_ms, created_at, completed_at, next_run_at)
     SELECT 'sync_' || i, 'sync', '{}', CASE WHEN i < 3 THEN 'processing' ELSE 'completed' END, 1000, 20, 0, 1, ${now} - i * 60000, CASE WHEN i > 2 THEN ${now} - i * 60000 END, ${now} FROM ${series(50)}`,
    `INSERT INTO job_site (job_id, position, site_id, state) SELECT 'sync_' || i, k, k, CASE WHEN i < 3 AND k > 200 THEN 0 ELSE 2 + (k % 30 = 0) END
     FROM ${series(50)}, ${series(1000, 'k')} WHERE i > 1 UNION ALL SELECT 'sync_1', i, i, CASE WHEN i > 200 THEN 0 ELSE 2 END FROM ${series(sites)}`,
    `INSERT INTO approval (id, asker, asker_name, via, client, operation, title, kind, sites, changes, input_digest, plan_digest, input, plan, state, asked_at, expires_at)
     SELECT 'apr_' || printf('%024x', i), 'user:1', 'admin', 'rest', '', 'svc/add-tag-v1', 'Add', 'other', 1, '[]', 'i' || i, '', '{}', '{}', ${among(['waiting', 'refused', 'used', 'expired'], 'i')}, ${now} - i * 1000, ${now + DAY} FROM ${series(2000)}`,
    `INSERT INTO tool_job (id, kind, total, status, created_at, completed_at) SELECT value || '_1', value, 10, 'completed', ${now}, ${now} FROM json_each('["destroy", "renew", "disconnect"]')`,
    `INSERT INTO policy (id, name, name_key, enabled, definition, changed_by, changed_at, due_at) VALUES (1, 'Nightly', 'nightly', 0, '{"schedule":{"at":"02:00"}}', 'admin', ${now}, ${now})`,
    `INSERT INTO backup_rule (place, tag_id, site_id, every, hour) SELECT 'fleet', NULL, NULL, 'weekly', 3
     UNION ALL SELECT 'tag:' || i, i, NULL, 'daily', 4 FROM ${series(tags)} UNION ALL SELECT 'site:' || i, NULL, i, 'monthly', 5 FROM ${series(1000)}`,
    `INSERT INTO backup_turn (site_id, planned, next_at) SELECT i, 1, ${now} + i * 60000 FROM ${series(sites)}`,
    // What is noted beside them.
    `INSERT INTO cost (id, name, type, license_type, cost_status, price, renewal_type, last_renewal, created_at, updated_at)
     SELECT i, 'Cost ' || i, 'subscription', 'multi_site', 'active', '12.50', 'monthly', '2026-01-01', ${now}, ${now} FROM ${series(40)}`,
    `INSERT INTO cost_target (cost_id, site_id, client_id, tag_id)
     SELECT i, CASE WHEN i % 3 = 0 THEN i END, CASE WHEN i % 3 = 1 THEN i END, CASE WHEN i % 3 = 2 THEN 1 + i % ${tags} END FROM ${series(40)}`,
    `INSERT INTO guidance (site_id, client_id, text, author, created_at) SELECT CASE WHEN i % 2 THEN i END, CASE WHEN i % 2 = 0 THEN 1 + i % ${clients} END, 'Mind this.', 'Ada', ${now} - i FROM ${series(1000)}`,
    `INSERT INTO audit (site_id, strategy, status, requested_at, finished_at, response_code, performance, seo, accessibility, best_practices)
     SELECT i, CASE k WHEN 1 THEN 'desktop' ELSE 'mobile' END, 'completed', ${now} - i, ${now} - i, 200, i % 100, 90, 90, 90 FROM ${series(sites)}, ${series(2, 'k')}`,
    `INSERT INTO time_bucket (id, title, title_key, hours, recurrence, starts_on, created_at, updated_at) SELECT i, 'Bucket ' || i, 'bucket ' || i, '10', 'monthly', '2026-01-01', ${now}, ${now} FROM ${series(300)}`,
    `INSERT INTO time_bucket_client (bucket_id, client_id) SELECT i, 1 + i % ${clients} FROM ${series(200)}`,
    `INSERT INTO time_task (id, title, search, client_id, bucket_id, timer_mode, status, payment_status, started_at, created_at, updated_at)
     SELECT i, 'Task ' || i, 'task ' || i, 1 + i % ${clients}, 1 + i % 300, 'count_up', ${among(['idle', 'paused', 'completed'], 'i')}, ${among(['unbilled', 'paid'], 'i')}, ${now} - i * 1000, ${now} - i * 1000, ${now} FROM ${series(5000)}`,
    `INSERT INTO time_task_site (task_id, site_id) SELECT i, 1 + i % ${sites} FROM ${series(5000)}`,
    `INSERT INTO time_entry (task_id, started_at, ended_at) SELECT i, ${now} - i * 1000 - k * 3600000, ${now} - i * 1000 - k * 3600000 + 600000 FROM ${series(5000)}, ${series(4, 'k')}`,
    `INSERT INTO report_record (site_id, segment, action, facts, at) SELECT 1 + i % ${sites}, 'backups', '', '{}', ${now} - i * 1000 FROM ${series(20_000)}`,
  ];
}

/**
 * Fills a database that is migrated and has no site. Triggers that keep counts and marks would take most of the time; what
 * they keep is written here.
 */
export async function fillLargeFleet(db: Db, now: number): Promise<void> {
  const triggers = await db.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name NOT IN ('site_monitor_insert', 'site_search_insert')",
  );
  for (const { name } of triggers) await db.run(`DROP TRIGGER ${name}`);
  for (const statement of statements(now)) await db.run(statement);
  for (const { sql } of triggers) await db.run(sql);
  await db.run('ANALYZE');
}
