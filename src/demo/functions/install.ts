/** Functions that put code on a site: packages (child protocol §6.8), and PHP that the child runs. */

import { createHash } from 'node:crypto';
import { type ChildFunction, Crash } from '../answer.js';
import { putBackupPlugin } from '../guard/backup.js';
import { putGuard, removeGuard } from '../guard/state.js';
import { json, text } from '../params.js';
import type { DemoSite } from '../site.js';

/** `installplugintheme`: one package of wordpress.org, whose name tells the version. */
export const installPluginTheme: ChildFunction = ({ site, state, params }) => {
  const address = json(text(params, 'url'));
  const found = typeof address === 'string' ? /\/(plugin|theme)\/([^/]+?)\.(\d[^/]*)\.zip$/.exec(address) : null;
  const [, kind = '', name = '', version = ''] = found ?? [];
  // A failed download ends PHP.
  if (found === null || site.faults.failUpdates === true) throw new Crash();
  const item =
    kind === 'plugin'
      ? state.plugins.find(({ slug }) => slug.split('/')[0] === name)
      : state.themes.find(({ slug }) => slug === name);
  if (item === undefined) throw new Crash();
  if (item.version !== version) {
    item.update ??= { version: item.version, requiresPhp: '', requiresWp: '' };
    item.version = version;
    site.changed(item.slug);
  }
  if ('active' in item && text(params, 'activatePlugin') === 'yes') item.active = true;
  return {
    installation: 'SUCCESS',
    destination_name: name,
    install_results: { [`${name}.${version}.zip`]: true },
    other_data: { install_items: [{ name: item.name, version, slug: item.slug }] },
  };
};

/** Parts of a guard that have arrived but are not installed yet. */
const gathered = new WeakMap<DemoSite, { token: string; parts: Buffer[] }>();

/** `code_snippet`: knows the programs that Sitefleet sends. PHP itself is tested on a real WordPress. */
export const codeSnippet: ChildFunction = ({ site, params }) => {
  const code = text(params, 'code');
  if (text(params, 'action') !== 'run_snippet' || code === '') return { status: 'FAIL' };
  if (site.faults.readOnlyFiles) return printed('not_writable');
  const [, token] = /\/\.sitefleet-guard-([0-9a-f]{16})\.part/.exec(code) ?? [];
  const [, packed] = /base64_decode\('([A-Za-z0-9+/=]+)'\)/.exec(code) ?? [];
  if (token === undefined) removeGuard(site);
  else if (packed !== undefined) {
    const before = gathered.get(site);
    const parts = before?.token === token ? before.parts : [];
    gathered.set(site, { token, parts: [...parts, Buffer.from(packed, 'base64')] });
    return printed('next');
  } else {
    const php = Buffer.concat(gathered.get(site)?.parts ?? []).toString('utf8');
    if (!code.includes(createHash('sha256').update(php).digest('hex'))) return printed('damaged');
    const version = /const VERSION\s*=\s*'([\w.]+)'/.exec(php)?.[1] ?? '0';
    if (code.includes("/sitefleet-backup.php'")) {
      if (site.guard === null) return printed('not_writable');
      site.guard.backup = putBackupPlugin(site, version);
      return printed('done');
    }
    putGuard(site, version, php.includes("'SITEFLEET_GUARD_LOGIN', true"));
  }
  return printed('done');
};

function printed(result: string) {
  return { status: 'SUCCESS', result: `<sitefleet>${result}</sitefleet>` };
}
