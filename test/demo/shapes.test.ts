import { beforeAll, expect, test } from 'vitest';
import { type DemoSite, type Fleet, startFleet } from '../../src/demo/fleet.js';
import { closing } from '../support/cleanup.js';
import { START } from '../support/dates.js';
import { callRaw, record, register } from '../support/demo-client.js';
import shapes from './shapes.json' with { type: 'json' };

let fleet: Fleet;
let site: DemoSite;

beforeAll(async () => {
  fleet = closing(await startFleet({ sites: 1, now: () => START }));
  site = fleet.site(0);
  furnish(site);
  await register(site);
});

/** The items of the recorded site. */
function furnish({ state }: DemoSite): void {
  const plugin = { description: 'x', author: 'x', mustUse: false, premium: false, update: null, lastUpdated: 0 };
  const base = { ...plugin, active: false, version: '1.0.0', breaksOnActivation: false };
  const old = 1_551_780_000;
  const offer = { version: '1.1.0', requiresPhp: '7.4', requiresWp: '5.0' };
  state.plugins = [
    ...state.plugins.filter((each) => each.slug.startsWith('mainwp-child/')),
    { ...base, slug: 'beta-widget/beta-widget.php', name: 'Beta Widget', lastUpdated: old },
    { ...base, slug: 'gamma-broken/gamma-broken.php', name: 'Gamma Broken', update: offer },
  ];
  const theme = { description: 'x', version: '1.1.0', parent: '', update: null, lastUpdated: old };
  state.themes = [
    { ...theme, slug: 'twentytwentyfive', name: 'Twenty Twenty-Five' },
    { ...theme, slug: 'twentytwentyfour', name: 'Twenty Twenty-Four' },
    { ...theme, slug: 'delta-theme', name: 'Delta Theme' },
  ];
  state.activeTheme = 'twentytwentyfive';
  state.wpUpdate = null;
  state.icon = '';
  state.nextId = 13;
  state.translations = [];
  state.abandoned.plugins.set('b', { Name: 'b', PluginURI: '', Version: '1', last_updated: 1 });
  state.abandoned.themes.set('t', { Name: 't', Version: '1', last_updated: 1 });
  state.actions.set('17951792401616', {
    context: 'plugins',
    action: 'deactivated',
    action_user: 'x',
    created: 1.5,
    summary: 'x',
    duration: 0.1,
    meta_data: [...state.actions.values()][0]?.meta_data ?? {
      user_meta: {
        wp_user_id: 1,
        display_name: '',
        role: '',
        user_role_label: '',
        agent: '',
        full_name: '',
        username: '',
        ip: '',
        action_user: '',
      },
      extra_info: { name: '', slug: '' },
      slug: '',
    },
  });
  for (const comment of state.comments) comment.status = 'approved';
  for (const post of state.posts) post.status = 'publish';
}

/** Form fields with PHP brackets for nested parameters. */
function flatten(params: object): Record<string, string | number> {
  const fields: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value !== 'object') fields[name] = value;
    else for (const [key, inner] of Object.entries(record(value))) fields[`${name}[${key}]`] = String(inner);
  }
  return fields;
}

/** The differences between an answer and the recorded shape, in words; empty when there are none. */
function differences(expected: unknown, actual: unknown, path: string): string[] {
  if (expected === 'any') return [];
  if (typeof expected === 'string') {
    const type = actual === null ? 'null' : typeof actual;
    return type === expected ? [] : [`${path}: ${type} instead of ${expected}`];
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${path}: no array`];
    if (expected.length === 0) return [];
    if (actual.length === 0) return [`${path}: empty`];
    return actual.flatMap((item, i) => differences(expected[0], item, `${path}[${i}]`));
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return [`${path}: no object`];
  const wanted = record(expected);
  if (Array.isArray(wanted.$keys)) return sameKeys(wanted.$keys.map(String), actual, path);
  if ('*' in wanted) return Object.entries(actual).flatMap(([k, v]) => differences(wanted['*'], v, `${path}.${k}`));
  return [
    ...sameKeys(Object.keys(wanted), actual, path),
    ...Object.entries(actual).flatMap(([k, v]) => (k in wanted ? differences(wanted[k], v, `${path}.${k}`) : [])),
  ];
}

function sameKeys(wanted: string[], actual: object, path: string): string[] {
  const missing = wanted.filter((key) => !(key in actual)).map((key) => `${path}.${key}: missing`);
  const extra = Object.keys(actual).filter((key) => !wanted.includes(key));
  return [...missing, ...extra.map((key) => `${path}.${key}: not in the recorded answer`)];
}

test.each(shapes.answers)('$name: $function answers in the recorded shape', async (recorded) => {
  site.faults.failUpdates = ['gamma-broken/gamma-broken.php'];
  const reply = await callRaw(site, recorded.function, flatten(recorded.params));
  expect(reply.status).toBe(recorded.http);
  if (recorded.http === 200) expect(differences(recorded.shape, reply.value, recorded.function)).toEqual([]);
  else expect(reply.body).toMatch(/^<p>There has been a critical error on this website\.<\/p>/);
});

test('no call made the simulator itself fail', () => {
  expect(fleet.stats().errors).toEqual([]);
});
