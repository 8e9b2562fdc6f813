import type { Call, ChildFunction } from '../answer.js';
import { phpMap, text } from '../params.js';
import type { DemoSite } from '../site.js';
import type { AbandonedCache, SiteState } from '../state.js';

/** Items the child asks the public directory about in one go (child protocol §6.6). */
const PER_RUN = 10;
const DAY = 86400;

/** `check_abandoned`: the next ten. Once it is through, it forgets what it found and starts over (child protocol §6.6). */
export const checkAbandoned: ChildFunction = ({ state, params, now }: Call) => {
  const which = text(params, 'which') === 'plugin' ? 'plugin' : 'theme';
  const cache = state.abandoned;
  let waiting = cache.queue.filter((item) => item.which === which);
  if (waiting.length === 0) {
    (which === 'plugin' ? cache.plugins : cache.themes).clear();
    const items = which === 'plugin' ? state.plugins : state.themes;
    waiting = items.map((item) => ({ which, slug: item.slug }) as const);
  }
  examine(state, waiting.slice(0, PER_RUN), now);
  cache.queue = [...cache.queue.filter((item) => item.which !== which), ...waiting.slice(PER_RUN)];
  const maps = outdatedMaps(state);
  const sync = which === 'plugin' ? { plugins_outdate_info: maps.plugins } : { themes_outdate_info: maps.themes };
  return { sync, success: 1 };
};

/** What stats shows: the cache, which is empty until a check ran. */
export function outdatedMaps(state: SiteState) {
  return { plugins: phpMap(state.abandoned.plugins), themes: phpMap(state.abandoned.themes) };
}

/** WordPress runs its cron when a page is visited: each later call examines ten more. */
export function advanceCron(site: DemoSite): void {
  const { queue } = site.inner.abandoned;
  if (queue.length === 0) return;
  site.touch();
  examine(site.inner, queue.splice(0, PER_RUN), Math.floor(site.now() / 1000));
}

function examine(state: SiteState, items: AbandonedCache['queue'], now: number): void {
  const { days, plugins, themes } = state.abandoned;
  const since = now - days * DAY;
  for (const { which, slug } of items) {
    const source = which === 'plugin' ? state.plugins : state.themes;
    const cache = which === 'plugin' ? plugins : themes;
    const item = source.find((each) => each.slug === slug);
    // An item unknown to the public directory has no date and is never called abandoned.
    if (item === undefined || item.lastUpdated === 0 || item.lastUpdated > since) {
      cache.delete(slug);
      continue;
    }
    const facts = { Version: item.version, last_updated: item.lastUpdated };
    cache.set(slug, which === 'plugin' ? { Name: item.name, PluginURI: '', ...facts } : { Name: item.name, ...facts });
  }
}
