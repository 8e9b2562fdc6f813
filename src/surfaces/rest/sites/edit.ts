/** The settings of a site under their REST names (REST §6.3.1). */

import type { ChangeKind } from '../../../../schemas/approval.js';
import { plainText } from '../../../../schemas/common.js';
import { email, SITE_EMAILS } from '../../../../schemas/email.js';
import { onOff } from '../../../../schemas/setting-fields.js';
import { siteName } from '../../../../schemas/site.js';
import { z } from '../../../../schemas/zod.js';
import { editSite, type SiteEdit } from '../../../domain/connection/edit.js';
import type { Ctx } from '../../../domain/context.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { aliasesOf } from '../names.js';
import { invalidParam } from '../parameter-errors.js';
import { cleared, csv, flag, ids, int, text } from '../params.js';
import { linkInRestWords } from './add.js';

const threeWay = (what: string) =>
  cleared.setting(int(0, 2), 2).optional().describe(`${what}: 0 no, 1 yes, 2 = the global setting.`);
const off = () => cleared.setting(onOff(), 0).optional();
const clearable = (max: number, what: string) =>
  text(max).nullable().optional().describe(`${what} null or "" clears it. Never shown.`);

/** All optional; absent fields keep their values, null restores the standard of a setting. */
export const editSiteFields = once(() => ({
  name: siteName().pipe(z.string().min(1, 'must contain at least one visible character')).optional(),
  protocol: z.enum(['http', 'https']).optional().describe('Scheme of the stored URL.'),
  url: text(2048, 1).optional().describe('New URL. Accepted if the same site answers there, so its history stays.'),
  admin: text(255, 1).optional().describe('Login name of the connected administrator.'),
  client_id: cleared.value(int(0).nullable()).optional().describe('0, null or "" unassigns.'),
  groupids: ids(100).nullable().optional().describe('Ids of tags, comma-separated; replaces all. "" or null clears.'),
  notes: plainText(65_535).nullable().optional().describe('Replaces the notes.'),
  note: plainText(65_535).nullable().optional().describe('Same as notes.'),
  http_user: clearable(255, 'User name of the HTTP login in front of the site.'),
  http_pass: clearable(1024, 'Password of that login.'),
  uniqueid: text(255).nullable().optional().describe('Unique security id of the child plugin. Never shown.'),
  ssl_verify: cleared.setting(flag(), true).optional().describe("Verify the site's certificate."),
  sslversion: cleared
    .setting(int(0, 7), 0)
    .optional()
    .describe('Lowest TLS version of calls and checks: 0 automatic, 6 TLS 1.2, 7 TLS 1.3.'),
  force_use_ipv4: threeWay('Calls and checks over IPv4 only'),
  suspended: onOff().optional().describe('0 lifts a suspension and reconnects the site if needed.'),
  automatic_update: off().describe('Automatic updates of the general settings on this site.'),
  backup_before_upgrade: threeWay('Update only with a recent backup, which is made first where possible'),
  ignore_core_updates: off(),
  ignore_plugin_updates: off(),
  ignore_theme_updates: off(),
  disablehealthchecking: threeWay('Do not report poor health of this site'),
  healththreshold: cleared
    .setting(int(0, 100), 0)
    .optional()
    .describe('Lowest good score: 80, 100, or 0 = the global setting.'),
  monitoring_emails: csv(email(SITE_EMAILS.length, 'must be e-mail addresses, comma-separated'), SITE_EMAILS.most)
    .nullable()
    .optional()
    .describe('Who is notified of outages, comma-separated. "" or null clears.'),
}));

/** What withholds updates of a site. */
const HOLDS = ['backup_before_upgrade', 'ignore_core_updates', 'ignore_plugin_updates', 'ignore_theme_updates'];
/** Items of a batch may still have their other names. */
const ALIASES = aliasesOf('/sites/', HOLDS);
const ON: readonly unknown[] = [1, '1', true, 'true', 'on', 'yes'];

/**
 * What an edit changes besides the site itself: the recipients of outage mails count as settings, and what is no longer
 * withheld may be updated by what acts without being asked.
 */
export function editKinds(item: unknown): ChangeKind[] {
  if (typeof item !== 'object' || item === null) return [];
  const offered = Object.entries(item).some(([name, value]) => {
    return HOLDS.includes(ALIASES.get(name) ?? name) && value !== undefined && !ON.includes(value);
  });
  const told = (item as { monitoring_emails?: unknown }).monitoring_emails !== undefined;
  return [...(told ? (['settings'] as const) : []), ...(offered ? (['updates'] as const) : [])];
}

const editSiteParams = once(() => z.object(editSiteFields()));
export type EditSiteParams = z.output<ReturnType<typeof editSiteParams>>;

/**
 * Throws `rest_invalid_param`, `svc_rest_invalid_client_id`, `svc_rest_site_exists`, and the errors of `editSite`.
 */
export async function applyEdit(ctx: Ctx, site: SiteRow, params: EditSiteParams): Promise<SiteRow> {
  requireSense(params);
  try {
    return await editSite(ctx, site, editOf(params));
  } catch (error) {
    throw moveInRestWords(error);
  }
}

function moveInRestWords(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code !== 'svc_site_already_exists') return linkInRestWords(error);
  const { site_id: found_id } = error.data;
  return new ServiceError('svc_rest_site_exists', error.message, {
    field: 'url',
    advice: 'Remove the other record first.',
    ...(found_id === undefined ? {} : { data: { found_id } }),
  });
}

function requireSense(params: EditSiteParams): void {
  if (params.url !== undefined && params.protocol !== undefined)
    throw invalidParam('protocol', 'is part of url: send one of them');
  oneOf('sslversion', params.sslversion, [0, 6, 7]);
  oneOf('healththreshold', params.healththreshold, [0, 80, 100]);
}

function oneOf(name: string, value: number | undefined, allowed: readonly number[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw invalidParam(name, `must be one of ${allowed.join(', ')}`);
}

function editOf(params: EditSiteParams): SiteEdit {
  const bit = (value: number | undefined) => (value === undefined ? undefined : value === 1);
  const secret = (value: string | null | undefined) => (value === '' ? null : value);
  const notes = params.notes === undefined ? params.note : params.notes;
  const all = {
    name: params.name,
    protocol: params.protocol,
    url: params.url,
    admin_username: params.admin,
    client_id: params.client_id === 0 ? null : params.client_id,
    tags: params.groupids === null ? [] : params.groupids,
    notes: notes === null ? '' : notes,
    http_user: secret(params.http_user),
    http_pass: secret(params.http_pass),
    unique_id: params.uniqueid === null ? '' : params.uniqueid,
    ssl_verify: params.ssl_verify,
    ssl_version: params.sslversion,
    force_use_ipv4: params.force_use_ipv4,
    suspended: bit(params.suspended),
    automatic_update: params.automatic_update,
    backup_before_upgrade: params.backup_before_upgrade,
    ignore_core: params.ignore_core_updates,
    ignore_plugins: params.ignore_plugin_updates,
    ignore_themes: params.ignore_theme_updates,
    disable_health_checking: params.disablehealthchecking,
    health_threshold: params.healththreshold,
    monitoring_emails: params.monitoring_emails === null ? '' : params.monitoring_emails?.join(','),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as SiteEdit;
}
