/** Site health as one number (operations §5.8). Pure. */

export interface HealthCounts {
  health_good: number | null;
  health_recommended: number | null;
  health_critical: number | null;
}

/** The current score: also null if the site did not answer its last sync or check, because the stored score is older. */
export function presentHealthScore(site: HealthCounts & { sync_error: string; unreached: number }): number | null {
  return site.sync_error === '' && site.unreached === 0 ? healthScore(site) : null;
}

/** 0..100; null if the child never reported. A child that reported nothing to judge scores 100. */
export function healthScore(counts: HealthCounts): number | null {
  const { health_good: good, health_recommended: recommended, health_critical: critical } = counts;
  if (good === null || recommended === null || critical === null) return null;
  const total = good + recommended + 1.5 * critical;
  if (total <= 0) return 100;
  const failed = 0.5 * recommended + 1.5 * critical;
  return Math.min(100, Math.max(0, 100 - Math.ceil((100 * failed) / total)));
}
