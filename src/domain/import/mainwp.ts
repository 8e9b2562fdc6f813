/** Converts records of a MainWP Dashboard, as its exporter writes them, to those of a fleet file. Pure. */

import { email, isEmail, SITE_EMAILS } from '../../../schemas/email.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../runtime/once.js';
import { ignoredUpdates } from './mainwp-ignored.js';
import { type Globals, lostOfMonitor, type MainwpMonitor, monitorOf, subMonitors } from './mainwp-monitor.js';
import { contactLines, plainName, plainNote, sentPassword, siteNote } from './mainwp-text.js';
import { numberFrom, type RawRecord, shownAddress, textFrom } from './record.js';

const text = once(() => z.preprocess(textFrom, z.string()));
/** A number from PHP: often text. Anything else is 0. */
const whole = once(() =>
  z.preprocess((value) => {
    const number = numberFrom(value);
    return Number.isSafeInteger(number) ? number : 0;
  }, z.number()),
);

const row = once(() => z.record(z.unknown()).catch({}));
/** PHP writes an empty map as a list; a value that is not a map counts as empty. */
const map = once(() => z.preprocess((value) => (Array.isArray(value) ? {} : value), z.record(z.unknown())).catch({}));
const refs = once(() => z.array(z.union([z.string(), z.number()])).catch([]));

const rawSite = once(() =>
  z.object({
    row: row(),
    key: text(),
    options: map(),
    tags: refs(),
    monitors: z.array(z.record(z.unknown())).catch([]),
  }),
);
const siteRow = once(() =>
  z.object({
    id: text(),
    url: text(),
    name: text(),
    adminname: text(),
    uniqueId: text(),
    note: text(),
    http_user: text(),
    http_pass: text(),
    verify_certificate: z.preprocess((value) => value ?? 1, whole()),
    force_use_ipv4: z.preprocess((value) => value ?? 2, whole()),
    ssl_version: whole(),
    client_id: whole(),
    suspended: whole(),
    automatic_update: whole(),
    backup_before_upgrade: z.preprocess((value) => value ?? 2, whole()),
    disable_health_check: z.preprocess((value) => value ?? 2, whole()),
    health_threshold: whole(),
    is_ignoreCoreUpdates: whole(),
    is_ignorePluginUpdates: whole(),
    is_ignoreThemeUpdates: whole(),
    ignored_plugins: text(),
    ignored_themes: text(),
  }),
);

/*
 * A record may hold anything. What cannot be read is a ZodError that names the field; what is out of range is left as it
 * is, for the schema of the result to name it.
 */

/** Settings for all sites of the dashboard; read before its sites. */
export function readGlobals(record: unknown): Globals {
  const parsed = z
    .object({ signature_algo: z.unknown(), verify: z.unknown(), ipv4: z.unknown(), monitoring: map() })
    .parse(record);
  return {
    sha1: numberFrom(parsed.signature_algo) === SHA1,
    verify:
      parsed.verify === null ||
      parsed.verify === undefined ||
      parsed.verify === false ||
      numberFrom(parsed.verify) === 1,
    ipv4: numberFrom(parsed.ipv4) === 1,
    monitoring: parsed.monitoring as MainwpMonitor,
  };
}

const SHA1 = 1;
/** "Use the global setting." */
const GLOBAL_ALGORITHM = 9999;

const OBSTACLE =
  'The other dashboard signs its calls to this site with SHA-1. A call with a better hash would make the site refuse SHA-1 from then on, locking the other dashboard out. Set its OpenSSL signature algorithm to SHA256 and sync the site there, then export again.';

/** A site with its connection, its settings, its ignore lists and its monitor. */
export function readSite(record: RawRecord, globals: Globals): { site: unknown; warnings: string[] } {
  const raw = rawSite().parse(record);
  const of = siteRow().parse(raw.row);
  const algorithm = numberFrom(raw.options.signature_algo ?? 0);
  const sha1 = algorithm === GLOBAL_ALGORITHM ? globals.sha1 : algorithm === SHA1;
  const subs = subMonitors(raw.monitors as MainwpMonitor[]);
  const ignoredVersions = text().parse(raw.options.ignored_wp_upgrades);
  const site = {
    key: `site:${of.id}`,
    url: of.url,
    admin: of.adminname,
    name: plainName(of.name),
    private_key: raw.key,
    regverify: text().parse(raw.options.register_verify_key) || null,
    unique_id: of.uniqueId,
    http_user: of.http_user || null,
    http_pass: sentPassword(of.http_pass) || null,
    ssl_verify: of.verify_certificate === 2 ? globals.verify : of.verify_certificate !== 0,
    ssl_version: of.ssl_version === 6 || of.ssl_version === 7 ? of.ssl_version : 0,
    force_use_ipv4: of.force_use_ipv4 === 2 ? (globals.ipv4 ? 1 : 2) : of.force_use_ipv4,
    notes: siteNote(of.note),
    client: of.client_id > 0 ? `client:${of.client_id}` : null,
    suspended: of.suspended === 1,
    tags: [] as string[],
    automatic_update: of.automatic_update === 1,
    backup_before_upgrade: among(of.backup_before_upgrade, [0, 1, 2], 2),
    disable_health_checking: among(of.disable_health_check, [0, 1, 2], 2),
    health_threshold: among(of.health_threshold, [0, 80, 100], 0),
    monitoring_emails: emails(text().parse(raw.options.monitoring_notification_emails)),
    ignore_core: of.is_ignoreCoreUpdates === 1,
    ignore_plugins: of.is_ignorePluginUpdates === 1,
    ignore_themes: of.is_ignoreThemeUpdates === 1,
    ignored: ignoredUpdates(of.ignored_plugins, of.ignored_themes, ignoredVersions),
    monitor: monitorOf(raw.monitors as MainwpMonitor[], globals.monitoring),
    trial_obstacle: sha1 ? OBSTACLE : '',
    tag_keys: raw.tags.map((id) => `tag:${id}`),
  };
  const lost = [
    ...lostOfMonitor(raw.monitors as MainwpMonitor[], globals.monitoring),
    ...(of.automatic_update === 1
      ? [
          'its automatic updates are on over there, and on here. They begin once the switches of automatic updates in the general settings are on, which are not imported.',
        ]
      : []),
    ...(subs === 0 ? [] : [`${subs} monitors of sub-pages are not imported.`]),
    ...(numberFrom(raw.options.ignored_trans_updates ?? 0) === 1
      ? ['all translation updates are ignored there; Sitefleet has no such setting.']
      : []),
  ];
  return { site, warnings: lost.map((what) => `${shownAddress(of.url)}: ${what}`) };
}

/** A tag; a color other than #RRGGBB is left out. */
export function readTag(record: RawRecord): unknown {
  const of = z.object({ id: text(), name: text(), color: text() }).parse(row().parse(record.row));
  return { key: `tag:${of.id}`, name: plainName(of.name), color: /^#[0-9a-f]{6}$/i.test(of.color) ? of.color : null };
}

const clientRow = once(() =>
  z.object({
    client_id: text(),
    name: text(),
    client_email: text(),
    client_phone: text(),
    address_1: text(),
    address_2: text(),
    city: text(),
    state: text(),
    zip: text(),
    country: text(),
    note: text(),
    suspended: whole(),
    client_facebook: text(),
    client_twitter: text(),
    client_instagram: text(),
    client_linkedin: text(),
  }),
);

/** A client. Contacts, social profiles and custom fields, which have no counterpart here, become lines of its note. */
export function readClient(record: RawRecord): unknown {
  const { client_id, client_facebook, client_twitter, client_instagram, client_linkedin, suspended, ...of } =
    clientRow().parse(row().parse(record.row));
  const contacts = z.array(z.record(text())).catch([]).parse(record.contacts);
  const fields = z
    .array(z.object({ label: text(), value: text() }))
    .catch([])
    .parse(record.fields);
  const address = email(191, 'must be an e-mail address').safeParse(of.client_email);
  const lines = [
    plainNote(of.note),
    ...contactLines(contacts),
    ...profiles([client_facebook, client_twitter, client_instagram, client_linkedin]),
    ...fields.map(({ label, value }) => `${plainName(label)}: ${plainNote(value)}`),
    ...(address.success || of.client_email === '' ? [] : [`E-mail: ${of.client_email}`]),
  ];
  return {
    ...of,
    name: plainName(of.name),
    key: `client:${client_id}`,
    client_email: address.success ? address.data : '',
    note: lines.filter((line) => line !== '').join('\n'),
    suspended: suspended === 1,
  };
}

function profiles(links: readonly string[]): string[] {
  return links.filter((link) => link.trim() !== '').map((link) => `Profile: ${link.trim()}`);
}

const costRow = once(() =>
  z.object({
    id: text(),
    name: text(),
    url: text(),
    type: text(),
    product_type: text(),
    license_type: text(),
    cost_status: text(),
    payment_method: text(),
    price: text(),
    renewal_type: text(),
    last_renewal: whole(),
    sites: text(),
    groups: text(),
    clients: text(),
    note: text(),
  }),
);

/** A cost with its targets: from the lookup table of newer dashboards, from lists in its own row in older ones. */
export function readCost(record: RawRecord): unknown {
  const { id, sites, groups, clients, last_renewal, renewal_type, ...of } = costRow().parse(row().parse(record.row));
  const targets = map().parse(record.targets);
  const found = Object.keys(targets).length > 0;
  const ids = (kind: string, column: string) => refs().parse(found ? targets[kind] : decoded(column));
  const lifetime = of.type === 'lifetime';
  return {
    ...of,
    name: plainName(of.name),
    note: plainNote(of.note),
    renewal_type: lifetime || renewal_type === '' || renewal_type === 'disabled' ? null : renewal_type,
    last_renewal: last_renewal > 0 ? dayOf(last_renewal) : null,
    sites: ids('site', sites).map((one) => `site:${one}`),
    tags: ids('tag', groups).map((one) => `tag:${one}`),
    clients: ids('client', clients).map((one) => `client:${one}`),
  };
}

/** The day of a time in seconds; the number itself, as text, if there is no such day. */
function dayOf(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().slice(0, 10);
}

/** Entries ignored on every site. */
export function readIgnored(record: RawRecord): unknown[] {
  const of = z
    .object({ ignored_plugins: text(), ignored_themes: text(), ignored_wp_upgrades: text() })
    .parse(row().parse(record.row));
  return ignoredUpdates(of.ignored_plugins, of.ignored_themes, of.ignored_wp_upgrades);
}

function among(value: number, allowed: readonly number[], otherwise: number): number {
  return allowed.includes(value) ? value : otherwise;
}

/** The valid addresses of a comma-separated list. */
function emails(list: string): string {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part.length <= SITE_EMAILS.length && isEmail(part))
    .slice(0, SITE_EMAILS.most)
    .join(',');
}

function decoded(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return [];
  }
}
