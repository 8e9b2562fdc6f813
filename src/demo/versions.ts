import { CHILD_SLUG, CHILD_VERSION } from './names.js';
import type { DemoSite } from './site.js';

const OLD_CHILD = '3.5.4';

/** Version the child plugin reports about itself. */
export function childVersion(site: DemoSite): string {
  const { outdated } = site.faults;
  if (typeof outdated === 'string') return outdated;
  if (outdated === true) return OLD_CHILD;
  return site.inner.plugins.find((plugin) => plugin.slug === CHILD_SLUG)?.version ?? CHILD_VERSION;
}
