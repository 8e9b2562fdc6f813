/** `search-fleet`: the median of many queries within a time limit, and one query against its bare statements. */

import { compare, repeated } from '../lib/ab.js';
import { seeded } from '../lib/database.js';
import { openBare } from '../lib/native.js';
import { figure, measureOf, type Scenario } from '../lib/scenario.js';
import { openService } from '../lib/service.js';
import { median } from '../lib/stats.js';

const GOAL_MS = 5;

/** Typical queries: rare and frequent plugins, ranges, updates, expiry, counts. */
const QUESTIONS: readonly object[] = [
  {},
  { search: 'bakery', status: 'connected' },
  { status: 'disconnected' },
  { plugin: 'plugin-0', has_update: ['plugins'] },
  { plugin: 'plugin-0', version_below: '5.0' },
  { plugin: 'plugin-300', version_below: '5.0' },
  { plugin: 'Plugin number 1999', item_state: 'active' },
  { theme: 'theme-3', item_state: 'active' },
  { php_below: '8.1' },
  { wp_below: '6.8.2', has_update: ['core'] },
  { has_update: ['core'] },
  { has_update: ['plugins'], level: ['major'] },
  { tag_ids: [3], has_update: ['core'] },
  { client_ids: [12], has_update: ['plugins'] },
  { not_synced_days: 7, status: 'connected' },
  { certificate_days: 14 },
  { domain_days: 30 },
  { monitor: 'down' },
  { group_by: 'php' },
  { group_by: 'status' },
  { group_by: 'client' },
  { group_by: 'tag', has_update: ['core'] },
  { plugin: 'plugin-0', group_by: 'slug' },
  { group_by: 'slug', has_update: ['plugins'] },
];

const PACKAGE = `SELECT id FROM package WHERE kind = 0 AND (lower(slug) IN ('plugin-300', 'plugin-300.php')
  OR lower(name) = 'plugin-300' OR substr(lower(slug), 1, 11) = 'plugin-300/')`;
const VERSIONS = "SELECT DISTINCT version FROM site_extension WHERE package_id = ? AND version <> ''";
const KEYS = `SELECT s.id, m.package_id FROM (SELECT e.site_id, e.package_id FROM site_extension e WHERE e.package_id = ?
  AND e.version IN (SELECT value FROM json_each(?))) m CROSS JOIN site s ON s.id = m.site_id ORDER BY s.url_key, s.id`;
const PAGE = `SELECT s.id, s.url, p.slug, e.version, e.active, u.new_version FROM json_each(?) k CROSS JOIN site s ON s.id = k.value
  JOIN site_extension e ON e.site_id = s.id AND e.kind = 0 AND e.package_id = ? JOIN package p ON p.id = e.package_id
  LEFT JOIN site_update u ON u.site_id = s.id AND u.type = 1 AND u.slug = p.slug AND u.ignored = 0 ORDER BY k.key`;

export const scenario: Scenario = {
  number: 15,
  name: 'search-fleet',
  title: '`search-fleet`: p50 of 24 questions against 5 ms, and one question against its bare statements',
  async run({ quick, dir }) {
    const sites = quick ? 2_000 : 10_000;
    const db = await seeded(dir, sites);
    const service = await openService(db);
    const rounds = quick ? 5 : 15;
    // The minimum of several runs: the cost of a query without other load on the machine.
    const least = QUESTIONS.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < rounds; round++) {
      for (const [index, question] of QUESTIONS.entries()) {
        const began = performance.now();
        await service.call('search-fleet', question);
        least[index] = Math.min(least[index] ?? 0, performance.now() - began);
      }
    }
    const slowest = least.indexOf(Math.max(...least));
    const p50 = figure(
      `p50 of ${QUESTIONS.length} questions, ${sites} sites × 30 plugins, against ${GOAL_MS} ms`,
      { atMost: 1 },
      [median(least) / GOAL_MS],
      `${median(least).toFixed(2)} ms, each question the least of ${rounds} runs; the slowest ${least[slowest]?.toFixed(0)} ms: ${JSON.stringify(QUESTIONS[slowest])}`,
    );
    const bare = openBare(db);
    const [packages, versions, keys, page] = [PACKAGE, VERSIONS, KEYS, PAGE].map((text) => bare.prepare(text));
    const statements = () => {
      const id = packages?.all()[0]?.[0];
      const old = versions?.all(id).map(([version]) => String(version)) ?? [];
      const found = keys?.all(id, JSON.stringify(old.filter((version) => Number(version.split('.')[0]) < 5))) ?? [];
      return page?.all(JSON.stringify(found.slice(0, 50).map(([site]) => site)), id);
    };
    const asked = { plugin: 'plugin-300', version_below: '5.0' };
    const { rows } = (await service.call('search-fleet', asked)) as { rows: unknown[] };
    if (rows.length === 0 || rows.length !== statements()?.length)
      throw new Error('The two sides find different rows.');
    const compared = await compare(
      repeated(() => service.call('search-fleet', asked), 40),
      repeated(statements, 40),
      { rounds: quick ? 5 : 11 },
    );
    bare.close();
    await service.stop();
    return [p50, measureOf(`installs of one plugin below a version, ${sites} sites`, { atMost: 2 }, compared, 'ms')];
  },
};
