import type { Call, ChildFunction } from '../answer.js';
import { list, phpMap, text } from '../params.js';
import type { SiteState } from '../state.js';
import { filterItems, themeItems } from './items.js';
import { statsPayload } from './stats.js';

/** `get_all_themes` (child protocol §6.1). */
export const getAllThemes: ChildFunction = ({ state, params }) =>
  filterItems(themeItems(state), params, 'installed_themes');

/** `theme_action` (child protocol §6.3). */
export const themeAction: ChildFunction = (call) => {
  const action = text(call.params, 'action');
  if (action === 'activate') return activate(call);
  if (action === 'delete') return remove(call);
  return { status: 'FAIL', sync: statsPayload(call, 'sync'), other_data: { theme_action_data: [] } };
};

/** Switches to any given stylesheet, existing or not, as the real child does. */
function activate(call: Call): unknown {
  const { state, params, site } = call;
  const slug = text(params, 'theme');
  const before = summary(state, state.activeTheme);
  const changed = slug !== '' && slug !== state.activeTheme;
  if (changed && site.faults.falseSuccess !== true) state.activeTheme = slug;
  return {
    status: 'SUCCESS',
    sync: statsPayload(call, 'sync'),
    other_data: {
      theme_action_data: { [slug]: summary(state, slug) },
      ...(changed ? { theme_deactivate_data: { [before.name]: before } } : {}),
    },
  };
}

function remove(call: Call): unknown {
  const { state, params, site } = call;
  const slugs = list(params, 'theme', '||');
  const parent = state.themes.find((theme) => theme.slug === state.activeTheme)?.parent ?? '';
  const error: Record<string, string> = {};
  const deleted: Record<string, unknown> = {};
  for (const slug of slugs) {
    if (slug === state.activeTheme) error.is_activated_theme = slug;
    else if (slug === parent) error.is_activated_parent = slug;
    else {
      deleted[slug] = summary(state, slug);
      if (site.faults.falseSuccess !== true) state.themes = state.themes.filter((theme) => theme.slug !== slug);
    }
  }
  const refused = Object.keys(error).length > 0;
  if (refused && slugs.length === 1) return { error };
  return {
    status: 'SUCCESS',
    ...(refused ? { error } : {}),
    sync: statsPayload(call, 'sync'),
    other_data: { theme_action_data: phpMap(deleted) },
  };
}

function summary(state: SiteState, slug: string): { name: string; version: string | false; slug: string } {
  const theme = state.themes.find((each) => each.slug === slug);
  return { name: theme?.name ?? slug, version: theme?.version ?? false, slug };
}
