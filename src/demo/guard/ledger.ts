/** What is on a simulated site besides its plugins and themes, and what their versions have changed there. */

import { createHash } from 'node:crypto';
import type { Breakage, Harm } from '../faults.js';
import type { DemoSite } from '../site.js';
import { brokenBy } from './break.js';
import type { GuardState } from './types.js';

const HARMS: readonly Breakage[] = [
  'drops_table',
  'adds_administrator',
  'changes_htaccess',
  'sends_mails',
  'adds_files',
  'ends_queue',
] satisfies Harm[];
/** More names than fit into one request. */
const ADDED = Array.from({ length: 1_500 }, (_, i) => `wp-content/${'x'.repeat(60)}-${i}.php`);

export function ledger(site: DemoSite, guard: GuardState) {
  const { harms } = guard;
  const breakage = brokenBy(site)?.breakage;
  if (typeof breakage === 'string' && isHarm(breakage)) harms.add(breakage);
  const digest = (text: string) => createHash('sha256').update(`${site.url} ${text}`).digest('hex');
  const logins = [site.admin, ...(harms.has('adds_administrator') ? ['mallory'] : [])];
  const address = site.url.replace(/\/$/, '');
  const { wpVersion: wordpress } = site.inner;
  return {
    wordpress,
    prefix: 'wp_',
    tables: ['wp_options', 'wp_posts', 'wp_users', ...(harms.has('drops_table') ? [] : ['wp_orders'])].map((name) => ({
      name,
      rows: 12,
    })),
    options: 240,
    vital: { siteurl: address, home: address, users_can_register: '0', default_role: 'subscriber', blog_public: '1' },
    active: site.inner.plugins.flatMap(({ slug, active, mustUse }) => (active && !mustUse ? [slug] : [])),
    files: ['.htaccess', 'index.php', 'wp-config.php', ...(harms.has('adds_files') ? ADDED : [])].map((name) => ({
      name,
      size: 400,
      sha256: digest(
        name === '.htaccess' && harms.has('changes_htaccess')
          ? `${name} changed`
          : `${name} ${name === 'index.php' ? wordpress : ''}`,
      ),
    })),
    events: [
      { hook: 'wp_version_check', schedule: 'twicedaily' },
      ...(harms.has('ends_queue') ? [] : [{ hook: 'wp_1_export_cron', schedule: 'wp_1_export_cron_interval' }]),
    ],
    held: ['wp_user_roles', 'sidebars_widgets'],
    administrators: logins.map((login, i) => ({ id: i + 1, login, mail: digest(login) })),
    roles: [{ role: 'administrator', users: logins.length }],
    powers: ['administrator'],
    mails: harms.has('sends_mails') ? 21 : 0,
  };
}

/** Of these harms only those to files can be restored. */
export function mend({ harms }: GuardState, asked: Record<string, unknown>) {
  const named: unknown[] = Array.isArray(asked.files) ? asked.files : [];
  const files = [
    ...(named.includes('.htaccess') && harms.delete('changes_htaccess') ? ['.htaccess'] : []),
    ...(harms.has('adds_files') ? ADDED.filter((name) => named.includes(name)) : []),
  ];
  if (files.includes(ADDED.at(-1) ?? '')) harms.delete('adds_files');
  return { files, options: [], events: [] };
}

function isHarm(breakage: Breakage): breakage is Harm {
  return HARMS.includes(breakage);
}
