/**
 * A MainWP Dashboard to migrate from: its database with encrypted keys, and calls to its sites signed the way it does.
 */

import {
  constants,
  createCipheriv,
  createPublicKey,
  generateKeyPairSync,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DemoSite, Fleet } from '../../src/demo/fleet.js';
import { createChildSites, type PacedChildSites } from '../../src/outbound/child/create.js';

type Row = Record<string, string | number>;

/** The URL by which the sites identify their dashboard. */
export const OLD_SERVER = 'https://old.example/wp-admin/';

/** One pair serves all fixtures: generating it is slow. */
const wrapping = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

export interface OldDashboard {
  /** Folder of its WordPress. */
  folder: string;
  child: PacedChildSites;
  rows: Record<string, Row[]>;
  options: Record<string, unknown>;
  /**
   * Registers with a site and stores it, as the dashboard does. Returns its row, which may be changed before `save`.
   */
  connect(site: DemoSite, key: { private_key: string; public_key: string }, more?: Row): Promise<Row>;
  /** A sync as the dashboard does it. */
  sync(site: DemoSite, key: { private_key: string }): Promise<unknown>;
  /** Its stored form of a private key. */
  encryptKey(id: number, pem: string): string;
  encryptLogin(text: string): string;
  save(): void;
  close(): Promise<void>;
}

/** Columns of the tables of version 6.1, as far as the exporter reads them; an older version lacks some. */
const COLUMNS: Record<string, string[]> = {
  wp: 'id userid adminname name url pubkey privkey siteurl note automatic_update backup_before_upgrade is_ignoreCoreUpdates is_ignorePluginUpdates is_ignoreThemeUpdates verify_certificate force_use_ipv4 ssl_version uniqueId http_user http_pass is_staging client_id suspended disable_health_check health_threshold ignored_plugins ignored_themes plugins themes'.split(
    ' ',
  ),
  wp_options: ['opt_id', 'wpid', 'name', 'value'],
  users: ['userid', 'user_email', 'ignored_plugins', 'ignored_themes', 'ignored_wp_upgrades'],
  group: ['id', 'userid', 'name', 'color'],
  wp_group: ['wp_group_id', 'wpid', 'groupid'],
  wp_clients:
    'client_id image name address_1 address_2 city zip state country note client_email client_phone client_facebook client_twitter client_instagram client_linkedin created suspended primary_contact_id'.split(
      ' ',
    ),
  wp_clients_contacts:
    'contact_id contact_client_id contact_email contact_name contact_phone contact_role facebook twitter instagram linkedin'.split(
      ' ',
    ),
  wp_clients_fields: ['field_id', 'field_name', 'field_desc', 'client_id'],
  wp_clients_field_values: ['value_id', 'field_id', 'field_value', 'value_client_id'],
  monitors:
    'monitor_id wpid active type keyword suburl issub timeout interval retry_interval up_status_codes maxretries method'.split(
      ' ',
    ),
  lookup_item_objects: ['lookup_id', 'item_id', 'item_name', 'object_id', 'object_name'],
  cost_tracker:
    'id name url type product_type slug license_type cost_status payment_method price renewal_type last_renewal next_renewal sites groups clients note'.split(
      ' ',
    ),
};

const SITE: Row = {
  userid: 1,
  note: '',
  pubkey: '',
  automatic_update: 0,
  backup_before_upgrade: 2,
  is_ignoreCoreUpdates: 0,
  is_ignorePluginUpdates: 0,
  is_ignoreThemeUpdates: 0,
  verify_certificate: 1,
  force_use_ipv4: 2,
  ssl_version: 0,
  uniqueId: '',
  http_user: '',
  http_pass: '',
  is_staging: 0,
  client_id: 0,
  suspended: 0,
  disable_health_check: 0,
  health_threshold: 0,
  ignored_plugins: '',
  ignored_themes: '',
  plugins: 'x'.repeat(1000),
  themes: '',
};

export function oldDashboard(): OldDashboard {
  const folder = mkdtempSync(join(tmpdir(), 'sitefleet-old-'));
  cpSync(fileURLToPath(new URL('wordpress/wp-load.php', import.meta.url)), join(folder, 'wp-load.php'));
  mkdirSync(join(folder, 'pk'));
  const child = createChildSites({
    dashboardUrl: OLD_SERVER,
    allowPrivate: true,
    concurrency: 10,
    perHost: 10,
    minDelayMs: 0,
    perHostDelayMs: 0,
  });
  const rows: Record<string, Row[]> = Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, []]));
  const options: Record<string, unknown> = {};
  const at = (site: DemoSite) => ({ url: site.url, http_user: null, http_pass: null, ssl_verify: true });
  const wrap = (bytes: Buffer) =>
    publicEncrypt({ key: createPublicKey(wrapping.publicKey), padding: constants.RSA_PKCS1_OAEP_PADDING }, bytes);

  const encryptKey = (id: number, pem: string): string => {
    const [key, iv] = [randomBytes(32), randomBytes(16)];
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    const parts = [Buffer.from(wrapping.privateKey), wrap(key), wrap(iv)];
    writeFileSync(join(folder, 'pk', String(id)), parts.map((part) => part.toString('base64')).join('-'));
    return Buffer.concat([cipher.update(pem), cipher.final()]).toString('base64');
  };

  return {
    folder,
    child,
    rows,
    options,
    encryptKey,
    encryptLogin(text) {
      const [key, iv] = [randomBytes(32), randomBytes(16)];
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      cipher.setAAD(Buffer.from('authentication_data'));
      const sealed = Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
      const file_key = `site_credential_${randomBytes(4).toString('hex')}`;
      writeFileSync(join(folder, 'pk', file_key), key);
      return `__mwpenc__:${JSON.stringify({ encrypted_val: sealed.toString('base64'), file_key })}`;
    },
    async connect(site, key, more = {}) {
      const registered = await child.register(at(site), {
        user: site.admin,
        public_key: key.public_key,
        unique_id: site.uniqueId,
        password: site.password,
      });
      const id = (rows.wp?.length ?? 0) + 1;
      const row = {
        ...SITE,
        id,
        url: site.url,
        siteurl: site.url,
        name: `Site ${id}`,
        adminname: site.admin,
        uniqueId: site.uniqueId,
        privkey: encryptKey(id, key.private_key),
        ...more,
      };
      rows.wp?.push(row);
      rows.wp_options?.push({
        opt_id: id * 10,
        wpid: id,
        name: 'register_verify_key',
        value: registered.regverify ?? '',
      });
      return row;
    },
    sync: (site, key) =>
      child.stats(
        { ...at(site), site_id: site.index + 1, user: site.admin, private_key: key.private_key },
        { abandonedAfterDays: 365, changesAfter: 0 },
      ),
    save() {
      const prefixed = <T>(tables: Record<string, T>) =>
        Object.fromEntries(Object.entries(tables).map(([name, value]) => [`wp_7_mainwp_${name}`, value]));
      const data = { columns: prefixed(COLUMNS), rows: prefixed(rows), options };
      writeFileSync(join(folder, 'rows.json'), JSON.stringify(data));
    },
    close: () => child.close(),
  };
}

/** Names of the functions the sites were called with. */
export function functionsOf(fleet: Fleet): Set<string> {
  return new Set(fleet.sites.flatMap((site) => site.calls.map((call) => call.function)));
}
