/** Known vulnerabilities: reads a feed of 60,000 entries, joins it to a fleet, and queries it. */

import { once } from 'node:events';
import { createWriteStream, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { createService } from '../../src/app/service.js';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { benchConfig, CALLER } from '../lib/config.js';
import { seededCopy } from '../lib/database.js';
import { figure, type Scenario } from '../lib/scenario.js';
import { openService } from '../lib/service.js';
import { median } from '../lib/stats.js';

const ENTRIES = 60_000;
/** Three entries each; a tenth of them are installed somewhere. */
const SLUGS = 20_000;
const READ_GOAL_S = 60;
/** In addition to the memory of the process before it reads the feed. */
const MEMORY_GOAL_MB = 200;
const SEARCH_GOAL_MS = 5;
const LIST_GOAL_MS = 60;
const UPDATES_GOAL_MS = 20;

const QUESTIONS: readonly object[] = [
  { vulnerable: true },
  { vulnerable: false },
  { vulnerable: true, tag_ids: [3] },
  { plugin: 'plugin-300', vulnerable: true },
  { plugin: 'plugin-0', vulnerable: true },
  { plugin: 'plugin-0', fields: ['id', 'url', 'version', 'vulnerabilities'] },
  { fields: ['id', 'url', 'vulnerabilities'] },
];

/**
 * Entries are as long as those of the real feed, with three ranges per slug: about a tenth of the installed items are
 * vulnerable.
 */
async function writeFeed(path: string): Promise<void> {
  const out = createWriteStream(path);
  out.write('{');
  for (let n = 0; n < ENTRIES; n++) {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const fixed = ['1.2.0', '1.8.0', '2.0.0'][Math.floor(n / SLUGS)] ?? '2.0.0';
    const party = { notice: 'Copyright', license: 'Licence. '.repeat(60), license_url: 'https://example.com/terms' };
    const text = JSON.stringify({
      id,
      title: `Plugin number ${n % SLUGS} < ${fixed} - Cross-site scripting`,
      software: [
        {
          type: 'plugin',
          name: `Plugin number ${n % SLUGS}`,
          slug: `plugin-${n % SLUGS}`,
          affected_versions: {
            [`* - ${fixed}`]: { from_version: '*', from_inclusive: true, to_version: fixed, to_inclusive: false },
          },
          patched: true,
          patched_versions: [fixed],
          remediation: `Update to version ${fixed}, or a newer patched version`,
        },
      ],
      informational: false,
      description: 'What it is. '.repeat(80),
      references: [`https://example.com/record/${id}`, 'https://example.com/change'],
      cwe: { id: 79, name: 'Cross-site scripting', description: 'Text. '.repeat(50) },
      cvss: { vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:N/I:L/A:N', score: (n % 100) / 10, rating: 'Medium' },
      cve: `CVE-2026-${10_000 + n}`,
      cve_link: 'https://example.com/cve',
      researchers: ['Somebody'],
      published: '2026-01-01 00:00:00',
      updated: '2026-01-02 00:00:00',
      copyrights: { message: 'This record is subject to copyright.', defiant: party, mitre: party },
    });
    if (!out.write(`${n === 0 ? '' : ','}"${id}":${text}`)) await once(out, 'drain');
  }
  out.end('}');
  await finished(out);
}

/** Memory of the process without mapped files, in MB. */
function anonymous(): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

export const scenario: Scenario = {
  number: 26,
  name: 'vulnerabilities',
  title: 'A feed of 60,000 vulnerabilities: reading, memory, joining, and questions about it',
  async run({ quick, dir }) {
    const sites = quick ? 1_000 : 10_000;
    const feed = join(dir, 'feed.json');
    await writeFeed(feed);
    const megabytes = Math.round(statSync(feed).size / 1e6);
    const db = await seededCopy(dir, sites, 'vulnerabilities');
    const config = benchConfig({ db, vulnerability_feed: feed });
    const writer = await createService({ config, engine: 'inline', jobs: false });
    const read = async () => {
      const began = performance.now();
      const { outcome, message } = await refreshVulnerabilities(writer.ctx(CALLER), { force: true });
      if (outcome !== 'read') throw new Error(`The feed was not read: ${message}`);
      return { seconds: (performance.now() - began) / 1000, message };
    };
    await writer.store.sites.list({}, 1, 1);
    const before = anonymous();
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, anonymous());
    }, 20);
    const first = await read();
    clearInterval(watch);
    utimesSync(feed, 1, 1);
    const again = await read();
    // The schedule does this within ten minutes.
    await writer.store.statistics.refresh();
    await writer.stop();

    const service = await openService(db, { vulnerability_feed: feed });
    const least = async (name: string, question: object) => {
      let ms = Number.POSITIVE_INFINITY;
      for (let round = 0; round < (quick ? 5 : 15); round++) {
        const began = performance.now();
        await service.call(name, question);
        ms = Math.min(ms, performance.now() - began);
      }
      return ms;
    };
    const times: number[] = [];
    for (const question of QUESTIONS) times.push(await least('search-fleet', question));
    const slowest = times.indexOf(Math.max(...times));
    const { vulnerable_sites: concerned, total } = await service.call('list-vulnerabilities', {});
    if (typeof concerned !== 'number' || concerned === 0) throw new Error('No site is vulnerable.');
    const list = await least('list-vulnerabilities', {});
    const brief = await least('get-fleet-brief', {});
    const updates = await least('list-updates', { per_page: 200 });
    await service.stop();
    const fleet = `${sites} sites × 30 plugins`;
    return [
      figure(
        `reading ${ENTRIES} entries (${megabytes} MB) and joining them to ${fleet}, against ${READ_GOAL_S} s`,
        { atMost: 1 },
        [first.seconds / READ_GOAL_S],
        `${first.seconds.toFixed(1)} s: ${first.message}; ${total} concern ${concerned} sites`,
      ),
      figure(
        'reading them again with nothing new, against the first time',
        { atMost: 0.7 },
        [again.seconds / first.seconds],
        `${again.seconds.toFixed(1)} s`,
      ),
      figure(
        `peak memory of reading in MB, against ${MEMORY_GOAL_MB}`,
        { atMost: 1 },
        [(peak - before) / MEMORY_GOAL_MB],
        `${Math.round(peak - before)} MB more than the ${Math.round(before)} before, of which up to 64 are the cache of the database`,
      ),
      figure(
        `p50 of ${QUESTIONS.length} searches for what is vulnerable, ${fleet}, against ${SEARCH_GOAL_MS} ms`,
        { atMost: quick ? 1 : 3 },
        [median(times) / SEARCH_GOAL_MS],
        `${median(times).toFixed(2)} ms; the slowest ${times[slowest]?.toFixed(0)} ms: ${JSON.stringify(QUESTIONS[slowest])}`,
      ),
      figure(
        `list-vulnerabilities, ${fleet}, against ${LIST_GOAL_MS} ms`,
        { atMost: 1 },
        [list / LIST_GOAL_MS],
        `${list.toFixed(0)} ms; the brief ${brief.toFixed(0)} ms`,
      ),
      figure(
        `200 updates with what they fix, ${fleet}, against ${UPDATES_GOAL_MS} ms`,
        { atMost: 1 },
        [updates / UPDATES_GOAL_MS],
        `${updates.toFixed(1)} ms`,
      ),
    ];
  },
};
