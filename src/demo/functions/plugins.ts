import { type Call, type ChildFunction, Crash } from '../answer.js';
import { list, phpMap, text } from '../params.js';
import { CHILD_SLUG } from '../plugins.js';
import type { PluginState, SiteState } from '../state.js';
import { filterItems, pluginItem } from './items.js';
import { statsPayload } from './stats.js';

/** `get_all_plugins` (child protocol §6.1). */
export const getAllPlugins: ChildFunction = ({ state, params }) =>
  filterItems(state.plugins.map(pluginItem), params, 'installed_plugins');

/** `plugin_action`: always SUCCESS, except for an unknown action (child protocol §6.2). */
export const pluginAction: ChildFunction = (call) => {
  const { state, params, site } = call;
  const action = text(params, 'action');
  const slugs = list(params, 'plugin', '||').filter((slug) => slug !== CHILD_SLUG);
  const real = site.faults.falseSuccess !== true;
  if (action === 'activate' || action === 'deactivate') {
    for (const slug of slugs) {
      if (action === 'activate' && site.faults.fatalOnActivation?.includes(slug)) throw new Crash();
      if (real) switchPlugin(state, slug, action === 'activate');
    }
    const data = Object.fromEntries(slugs.map((slug) => [slug, summary(state, slug)]));
    return answer(call, 'SUCCESS', data, slugs.length);
  }
  if (action === 'delete') return deletePlugins(call, slugs, real);
  return answer(call, 'FAIL', {}, 0);
};

function switchPlugin(state: SiteState, slug: string, active: boolean): void {
  const plugin = find(state, slug);
  if (plugin === undefined || plugin.mustUse) return;
  if (active && plugin.breaksOnActivation) return;
  plugin.active = active;
}

function deletePlugins(call: Call, slugs: string[], real: boolean): unknown {
  const { state, now } = call;
  const deleted: Record<string, unknown> = {};
  const deactivated: Record<string, unknown> = {};
  for (const slug of slugs) {
    const plugin = find(state, slug);
    if (plugin === undefined || plugin.mustUse) continue;
    deleted[slug] = { ...summary(state, slug), created: now };
    if (plugin.active) deactivated[slug] = { ...summary(state, slug), created: now };
    if (real) state.plugins = state.plugins.filter((each) => each.slug !== slug);
  }
  const work = Object.keys(deleted).length + Object.keys(deactivated).length;
  const extra = Object.keys(deactivated).length > 0 ? { plugin_deactivated_data: deactivated } : {};
  return answer(call, 'SUCCESS', deleted, work, extra);
}

function answer(call: Call, status: string, data: Record<string, unknown>, work: number, extra: object = {}): unknown {
  return {
    status,
    sync: statsPayload(call, 'sync'),
    other_data: { plugin_action_data: phpMap(data), duration_bulk: work, ...extra },
  };
}

function summary(state: SiteState, slug: string): Record<string, unknown> {
  const plugin = find(state, slug);
  return { name: plugin?.name ?? '', version: plugin?.version ?? '', slug };
}

function find(state: SiteState, slug: string): PluginState | undefined {
  return state.plugins.find((plugin) => plugin.slug === slug);
}
