import { type Call, ChildError, type ChildFunction } from '../answer.js';
import { updateFails } from '../faults.js';
import { atLeast } from '../inventory.js';
import { list, phpMap, text } from '../params.js';
import type { DemoSite } from '../site.js';
import type { PluginState, ThemeState } from '../state.js';
import { say } from '../texts.js';
import { pluginOffers, themeOffers } from './items.js';
import { statsPayload } from './stats.js';

/** Keys that the real child adds to every update answer; dashboards ignore them. */
const CACHE_CONTROL = {
  mainwp_cache_control_last_purged: 0,
  mainwp_cache_control_cache_solution: 'Plugin Not Found',
  mainwp_cache_control_logs: '{"status":"Disabled","action":"SUCCESS","do_purge":false}',
};

interface Outcome {
  upgrades: Record<string, boolean>;
  errors: Record<string, string>;
  codes: Record<string, string>;
  data: Record<string, unknown>;
}

/** `upgradeplugintheme`: also returns true for items without an update and for unknown ones (child protocol §6.8). */
export const upgradePluginTheme: ChildFunction = (call) => {
  const { state, params } = call;
  const type = text(params, 'type');
  const slugs = list(params, 'list', ',');
  if ((type !== 'plugin' && type !== 'theme') || slugs.length === 0) throw ChildError.of(call.site, 'invalid');
  const offersBefore = type === 'plugin' ? pluginOffers(state, 'update') : themeOffers(state);
  const items: (PluginState | ThemeState)[] = type === 'plugin' ? state.plugins : state.themes;
  const outcome: Outcome = { upgrades: {}, errors: {}, codes: {}, data: {} };
  for (const slug of slugs) {
    const item = items.find((each) => each.slug === slug);
    if (item !== undefined && !requirementsMet(call, item)) {
      if (slugs.length === 1) throw ChildError.of(call.site, 'requirement');
      continue;
    }
    updateItem(call, type, slug, item, outcome);
  }
  return {
    upgrades: phpMap(outcome.upgrades),
    other_data: {
      updated_data: phpMap(outcome.data),
      ...(Object.keys(outcome.codes).length > 0 ? { upgrade_error_codes: outcome.codes } : {}),
    },
    [`${type}_updates`]: phpMap(offersBefore),
    ...(Object.keys(outcome.errors).length > 0 ? { upgrades_error: outcome.errors } : {}),
    ...(type === 'theme' ? { sync: statsPayload(call, 'sync') } : {}),
    ...CACHE_CONTROL,
  };
};

function requirementsMet({ state }: Call, item: PluginState | ThemeState): boolean {
  if (item.update === null) return true;
  return atLeast(state.phpVersion, item.update.requiresPhp) && atLeast(state.wpVersion, item.update.requiresWp);
}

function updateItem(
  { site, state }: Call,
  type: 'plugin' | 'theme',
  slug: string,
  item: PluginState | ThemeState | undefined,
  outcome: Outcome,
): void {
  if (item !== undefined && updateFails(site.faults, slug)) {
    const error = say(state.language, 'download');
    const rollback = site.faults.rollback === true ? { rollback: 1 } : {};
    outcome.data[slug] = {
      name: item.name,
      old_version: '',
      slug,
      success: 0,
      error,
      version: item.version,
      ...rollback,
    };
    outcome.codes[slug] = 'download_failed';
    outcome.errors[slug] = error;
    if (type === 'theme') outcome.upgrades[slug] = false;
    return;
  }
  outcome.upgrades[slug] = true;
  const replaced = item?.update != null && site.faults.falseSuccess !== true;
  const before = replaced ? item.version : '';
  if (replaced && item.update !== null) {
    item.version = item.update.version;
    item.update = null;
    rename(site, item);
    if (site.faults.killedBy?.includes(slug)) site.faults.http500 = true;
    site.changed(slug);
  }
  const name = item?.name ?? '';
  const version = item === undefined ? {} : { version: item.version };
  outcome.data[slug] = { name, old_version: before, slug, success: 1, ...version };
}

/** WordPress knows a plugin by its main file: under another name it is another plugin, and an inactive one. */
function rename(site: DemoSite, item: PluginState | ThemeState): void {
  const slug = site.faults.renames?.[item.slug];
  if (slug === undefined || !('active' in item)) return;
  item.slug = slug;
  item.active = false;
}

/** `upgrade`: WordPress itself (child protocol §6.8). */
export const upgradeCore: ChildFunction = ({ site, state }) => {
  const { faults } = site;
  if (faults.coreAnswer === 'LOCKED') throw ChildError.of(site, 'locked');
  if (faults.coreAnswer !== undefined) return { upgrade: faults.coreAnswer, ...CACHE_CONTROL };
  if (state.wpUpdate === null || faults.falseSuccess === true) return { upgrade: 'SUCCESS', ...CACHE_CONTROL };
  if (updateFails(faults, 'core')) {
    return {
      upgrade: 'WPERROR',
      other_data: { upgrade_error_codes: { core: 'download_failed' } },
      ...CACHE_CONTROL,
    };
  }
  const before = state.wpVersion;
  state.wpVersion = state.wpUpdate;
  state.wpUpdate = null;
  return { upgrade: 'SUCCESS', old_version: before, version: state.wpVersion, ...CACHE_CONTROL };
};

/** `upgradetranslation`: one slug covers all its languages (child protocol §6.8). */
export const upgradeTranslation: ChildFunction = (call) => {
  const { site, state, params } = call;
  const slugs = list(params, 'list', ',');
  if (text(params, 'type') !== 'translation' || slugs.length === 0) throw ChildError.of(site, 'invalid');
  const upgrades: Record<string, boolean> = {};
  const data: Record<string, unknown> = {};
  for (const item of state.translations.filter((each) => slugs.includes(each.slug))) {
    const failed = updateFails(site.faults, item.slug);
    upgrades[item.slug] = !failed;
    data[item.slug] = {
      name: item.name,
      slug: item.slug,
      type: item.type,
      version: item.version,
      success: failed ? 0 : 1,
    };
  }
  if (site.faults.falseSuccess !== true) {
    state.translations = state.translations.filter((each) => upgrades[each.slug] !== true);
  }
  return {
    upgrades: phpMap(upgrades),
    other_data: { updated_data: phpMap(data) },
    sync: statsPayload(call, 'sync'),
    ...(Object.keys(data).length > 0 ? CACHE_CONTROL : {}),
  };
};
