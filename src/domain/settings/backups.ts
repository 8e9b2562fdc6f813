/** Credentials of hosting providers for backups (REST §6.10.6). Write-only secrets, sealed in storage. */

import { ownMember } from '../../runtime/own-member.js';
import type { SettingWrite } from '../../store/settings/settings.js';
import type { Ctx } from '../context.js';
import { wrongField } from './settings.js';

interface Provider {
  label: string;
  options: readonly string[];
  /** The member that holds its secret in bodies and answers. */
  secret: 'api_key' | 'password';
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  cloudways: { label: 'Cloudways', options: ['account_email'], secret: 'api_key' },
  gridpane: { label: 'GridPane', options: [], secret: 'api_key' },
  vultr: { label: 'Vultr', options: [], secret: 'api_key' },
  linode: { label: 'Akamai (Linode)', options: [], secret: 'api_key' },
  digitalocean: { label: 'DigitalOcean', options: [], secret: 'api_key' },
  cpanel: { label: 'cPanel', options: ['url', 'site_path', 'username'], secret: 'password' },
  plesk: { label: 'Plesk', options: ['url'], secret: 'api_key' },
  kinsta: { label: 'Kinsta', options: ['account_email', 'company_id'], secret: 'api_key' },
};

export const BACKUPS_NOTE =
  'Stored for programs that make backups, with secrets encrypted: this service contacts no hosting provider.';

export interface BackupChange {
  enabled?: boolean | null | undefined;
  url?: string | null | undefined;
  site_path?: string | null | undefined;
  username?: string | null | undefined;
  password?: string | null | undefined;
  account_email?: string | null | undefined;
  company_id?: string | null | undefined;
  secrets?: { api_key?: string | null | undefined; password?: string | null | undefined } | null | undefined;
}

interface Stored {
  enabled?: boolean;
  options?: Record<string, string>;
}

export async function listBackups(ctx: Ctx) {
  const entries = Object.keys(PROVIDERS).map(async (slug) => [slug, await viewOf(ctx, slug)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function viewOf(ctx: Ctx, slug: string) {
  const { label, options, secret } = PROVIDERS[slug] as Provider;
  const stored = ((await ctx.store.settings.one(keyOf(slug))) ?? {}) as Stored;
  const plain = await ctx.store.settings.secret(secretKey(slug));
  return {
    label,
    enabled: stored.enabled ?? false,
    options: Object.fromEntries(options.map((name) => [name, stored.options?.[name] ?? ''])),
    // Masked.
    secrets: { [secret]: typeof plain === 'string' ? masked(plain) : '' },
  };
}

/** `****` and the last four characters; a short secret is masked completely. */
export function masked(secret: string): string {
  return `****${secret.length >= 12 ? secret.slice(-4) : ''}`;
}

function keyOf(slug: string): string {
  return `api-backups.${slug}`;
}

function secretKey(slug: string): string {
  return `api-backups-secret.${slug}`;
}

/**
 * An absent member stays unchanged, null clears it; a masked secret that is sent back is ignored. Unknown providers and
 * fields are refused by name.
 */
export async function editBackup(ctx: Ctx, slug: string, change: BackupChange) {
  const provider = ownMember(PROVIDERS, slug);
  if (provider === undefined) {
    const known = Object.keys(PROVIDERS).join(', ');
    throw wrongField('api_slug', 'invalid_slug', `must be one of ${known}`, 'GET /v2/settings/api-backups lists them.');
  }
  const stored = ((await ctx.store.settings.one(keyOf(slug))) ?? {}) as Stored;
  const next: Stored = { ...stored, options: { ...stored.options } };
  const { enabled, secrets, password, ...options } = change;
  if (enabled !== undefined) next.enabled = enabled ?? false;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!provider.options.includes(name)) throw noSuchField(name, provider);
    if (value === null) delete next.options?.[name];
    else next.options = { ...next.options, [name]: value };
  }
  const writes: SettingWrite[] = [{ key: keyOf(slug), value: next }];
  const given: BackupChange['secrets'] = secrets === null ? { api_key: null } : secrets;
  const secret = { password: password === undefined ? given?.password : password, api_key: given?.api_key };
  for (const [name, value] of Object.entries(secret)) {
    if (value === undefined || value?.startsWith('****') === true) continue;
    if (provider.secret !== name) throw noSuchField(name === 'api_key' ? 'secrets' : name, provider);
    writes.push({ key: secretKey(slug), value: value ?? undefined, secret: true });
  }
  await ctx.store.settings.write(writes, ctx.clock.now());
  ctx.events.emit({ name: 'settings.changed', facts: { group: 'api-backups', fields: [slug] } });
  return viewOf(ctx, slug);
}

function noSuchField(name: string, provider: Provider) {
  const secret = provider.secret === 'api_key' ? 'secrets.api_key' : provider.secret;
  const fields = ['enabled', ...provider.options, secret].join(', ');
  return wrongField(name, 'invalid_field', `is not a field of ${provider.label}`, `It has ${fields}.`);
}
