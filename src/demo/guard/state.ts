/** The stored state of a site's simulated guard. */

import { createHash, randomBytes } from 'node:crypto';
import { inactivePlugin } from '../inventory.js';
import type { DemoSite } from '../site.js';
import type { PluginState, ThemeState } from '../state.js';
import type { GuardState, ItemKind, KeptVersion } from './types.js';

const GUARD_SLUG = 'sitefleet-guard.php';

/** Puts a guard onto the site, as its must-use plugin would be. */
export function putGuard(site: DemoSite, version = '1.9.0', login = false): GuardState {
  const state = site.inner;
  site.touch();
  state.plugins = state.plugins.filter(({ slug }) => slug !== GUARD_SLUG);
  const plugin = inactivePlugin([GUARD_SLUG, 'Sitefleet Guard', version, '', '']);
  state.plugins.push({ ...plugin, mustUse: true, active: true });
  site.guard = {
    version,
    login,
    nonces: new Map(),
    kept: [],
    armed: [],
    faults: [],
    updating: [],
    openUntil: 0,
    visits: null,
    backup: null,
    actions: [],
    harms: new Set(),
    logins: new Map(),
  };
  return site.guard;
}

export function removeGuard(site: DemoSite): void {
  site.touch();
  site.inner.plugins = site.inner.plugins.filter(({ slug }) => slug !== GUARD_SLUG);
  site.guard = null;
}

export function findItem(site: DemoSite, kind: ItemKind, slug: string): PluginState | ThemeState | undefined {
  const state = site.inner;
  return kind === 'plugin'
    ? state.plugins.find((each) => each.slug === slug && !each.mustUse)
    : state.themes.find((each) => each.slug === slug);
}

/** A version stands for its files: the same version always has the same digest. */
export function keep(
  site: DemoSite,
  guard: GuardState,
  kind: ItemKind,
  item: PluginState | ThemeState,
  role: KeptVersion['role'],
): KeptVersion {
  const { slug, version, update } = item;
  const digest = createHash('sha256').update(`${kind} ${slug} ${version}`).digest('hex');
  const created = Math.floor(site.now() / 1000);
  const id = randomBytes(16).toString('hex');
  const kept = { id, role, kind, slug, version, update, created, files: 12, bytes: 40_000 + version.length, digest };
  guard.kept.unshift(kept);
  const same = guard.kept.filter((one) => one.role === role && one.kind === kind && one.slug === slug);
  const dropped = new Set(same.slice(role === 'snapshot' ? 2 : 1).filter(({ id: old }) => !isArmed(guard, old)));
  guard.kept = guard.kept.filter((one) => !dropped.has(one));
  return kept;
}

/** Updates that begin now; the answer ends them. */
export function beginUpdates(site: DemoSite, kind: ItemKind, slugs: readonly string[]): () => void {
  const { guard } = site;
  if (guard === null) return () => undefined;
  const begun = slugs.map((slug) => ({ kind, slug, since: Math.floor(site.now() / 1000) }));
  guard.updating.push(...begun);
  return () => {
    guard.updating = guard.updating.filter((one) => !begun.includes(one));
  };
}

function isArmed(guard: GuardState, snapshot: string): boolean {
  return guard.armed.some((armed) => armed.snapshot === snapshot);
}

/** Puts the kept version back; null when it is there already. */
export function rollBack(site: DemoSite, guard: GuardState, kept: KeptVersion): KeptVersion | null {
  const item = findItem(site, kept.kind, kept.slug);
  if (item === undefined || item.version === kept.version) return null;
  site.touch();
  const replaced = keep(site, guard, kept.kind, item, 'replaced');
  item.version = kept.version;
  item.update = kept.update;
  site.changed(kept.slug);
  return replaced;
}
