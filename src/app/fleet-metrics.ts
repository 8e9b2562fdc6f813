/** Metrics about the fleet: sums only, so that their number does not grow with the fleet and no site is named. */

import type { MetricFamily } from '../runtime/telemetry/metric-types.js';
import { gauge } from '../runtime/telemetry/metrics.js';
import type { FleetFigures } from '../store/reports/fleet-figures.js';

/** −1 for unrated, then as stored. */
const SEVERITIES = ['not_rated', 'none', 'low', 'medium', 'high', 'critical'];
const TYPES = ['core', 'plugin', 'theme', 'translation'];

export function fleetFamilies(
  { sites, updates, monitors, certificates, first_expiry }: FleetFigures,
  deliveries: { open: number; dead: number },
  vulnerable: { checked_at: number; sites: readonly { severity: number | null; n: number }[] } | null,
): MetricFamily[] {
  const by = (label: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
  return [
    gauge('sitefleet_sites', 'Sites by status.', ...by('status', sites)),
    gauge(
      'sitefleet_updates_pending',
      'Updates on offer that are neither ignored nor quarantined, by level of the version.',
      ...levels(updates),
    ),
    gauge('sitefleet_monitors', 'Monitors by state.', ...by('state', monitors)),
    gauge('sitefleet_certificates', 'Certificates by days left.', ...by('days_left', certificates)),
    ...(first_expiry === null
      ? []
      : [
          gauge('sitefleet_certificate_first_expiry_timestamp_seconds', 'When the first valid certificate expires.', {
            value: first_expiry / 1000,
          }),
        ]),
    gauge(
      'sitefleet_alert_deliveries',
      'Alerts waiting to be delivered, and those given up.',
      { labels: { state: 'open' }, value: deliveries.open },
      { labels: { state: 'dead' }, value: deliveries.dead },
    ),
    ...(vulnerable === null
      ? []
      : [
          gauge(
            'sitefleet_vulnerable_sites',
            'Sites with a known vulnerability, by its highest severity.',
            ...SEVERITIES.map((severity, index) => ({
              labels: { severity },
              value: vulnerable.sites.find((row) => (row.severity ?? -1) === index - 1)?.n ?? 0,
            })),
          ),
          gauge(
            'sitefleet_vulnerability_feed_checked_timestamp_seconds',
            'When the vulnerability feed was last read successfully.',
            { value: vulnerable.checked_at / 1000 },
          ),
        ]),
  ].filter(({ values }) => values.length > 0);
}

function levels(updates: FleetFigures['updates']) {
  const sums = new Map<string, { labels: { type: string; level: string }; value: number }>();
  for (const { type, current_version, new_version, n } of updates) {
    const labels = { type: TYPES[type] ?? 'other', level: levelOf(current_version, new_version) };
    const key = `${labels.type} ${labels.level}`;
    const sum = sums.get(key) ?? { labels, value: 0 };
    sum.value += n;
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/**
 * Which part of the version number changes: the first, the second, or a later one. Plugins need not follow this; it is
 * a hint.
 */
function levelOf(from: string, to: string): 'major' | 'minor' | 'patch' | 'unknown' {
  const parts = (version: string) => /^v?(\d+)(?:\.(\d+))?/.exec(version.trim());
  const [before, after] = [parts(from), parts(to)];
  if (before === null || after === null) return 'unknown';
  if (before[1] !== after[1]) return 'major';
  return (before[2] ?? '0') === (after[2] ?? '0') ? 'patch' : 'minor';
}
