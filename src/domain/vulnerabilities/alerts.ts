/**
 * Alerts for newly known vulnerabilities: one for each plugin, theme or core of a connected site, or one summary for
 * many. They link to the entry without quoting it: where its text is shown, the feed's terms require a notice beside
 * it.
 */

import { CORE_FEED_SLUG, SOFTWARE_TYPES, severityName } from '../../../schemas/vulnerability.js';
import { type Alert, emitAlerts } from '../../runtime/events.js';
import type { SiteVulnerability } from '../../store/vulnerabilities/alerts.js';
import type { Ctx } from '../context.js';

/** More than this many are summarized: hundreds of alerts would not be read. */
const MOST_SINGLE = 20;

/**
 * Raises alerts for what was unknown at the last run, including items that sites have installed since.
 * @param first nothing was known before: everything is summarized
 */
export async function alertNewVulnerabilities(ctx: Ctx, first: boolean): Promise<void> {
  const { vulnerabilityAlerts } = ctx.store;
  const news = await vulnerabilityAlerts.read(MOST_SINGLE);
  if (news.fresh === '[]') return;
  const at = ctx.clock.now();
  const { fresh, vulnerabilities, sites, items, critical } = news;
  const summary: Alert<'vulnerability.summary'> = {
    key: `vulnerability:all:${at}`,
    kind: 'vulnerability.summary',
    site_id: null,
    at,
    facts: { vulnerabilities, critical, items, sites, worst: news.first.map(listed) },
  };
  const single = !first && items <= MOST_SINGLE;
  const alerts: Alert[] = items === 0 ? [] : single ? news.first.map((one) => alertOf(one, at)) : [summary];
  emitAlerts(ctx.events, await vulnerabilityAlerts.record(fresh, alerts));
}

const listed = (one: SiteVulnerability) => ({
  site: one.url,
  item: `${one.name} ${one.version}`,
  severity: severityName(one.severity),
});

function alertOf(one: SiteVulnerability, at: number): Alert<'vulnerability.found'> {
  return {
    key: `vulnerability:${one.site_id}:${one.package_id}:${at}`,
    kind: 'vulnerability.found',
    site_id: one.site_id,
    at,
    facts: {
      url: one.url,
      name: one.site_name,
      type: SOFTWARE_TYPES[one.kind] ?? 'plugin',
      slug: one.package_id === 0 ? CORE_FEED_SLUG : one.slug,
      item: one.name,
      version: one.version,
      count: one.count,
      severity: severityName(one.severity),
      cve: one.cve,
      reference: one.reference,
      fixed_in: one.fixed_in,
    },
  };
}
