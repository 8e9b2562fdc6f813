/** Recipients of alerts besides mail: webhooks and chat channels, each with the kinds and sites it receives. */

import { randomBytes } from 'node:crypto';
import type { AlertKindName, RecipientType } from '../../../schemas/alerts.js';
import { parseUrl } from '../../../schemas/url.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { minutesOf, timeOf } from '../../runtime/time-of-day.js';
import type { AlertTarget, RecipientFields, RecipientRow } from '../../store/monitoring/alert-recipients.js';
import type { Ctx } from '../context.js';

/** More would turn every alert into a flood of requests. */
export const MOST_RECIPIENTS = 100;

const TELEGRAM = 'https://api.telegram.org';

/** Absent members stay unchanged; null restores the default. */
export interface RecipientChange {
  name?: string | undefined;
  url?: string | undefined;
  secret?: string | null | undefined;
  token?: string | null | undefined;
  chat_id?: string | null | undefined;
  kinds?: readonly AlertKindName[] | undefined;
  sites?: readonly number[] | undefined;
  quiet_from?: string | null | undefined;
  quiet_to?: string | null | undefined;
  active?: boolean | undefined;
}

/** A recipient as shown to callers: only the host of its address. */
function recipientView(row: RecipientRow) {
  return {
    id: row.id,
    name: row.name,
    type: row.type as RecipientType,
    host: row.host,
    kinds: JSON.parse(row.kinds) as string[],
    sites: JSON.parse(row.site_ids) as number[],
    quiet_from: timeOf(row.quiet_from),
    quiet_to: timeOf(row.quiet_to),
    active: row.enabled === 1,
    created: isoTime(row.created_at),
    last_sent: isoTime(row.last_sent_at),
    last_failed: isoTime(row.last_failed_at),
    last_error: row.last_error,
  };
}

export async function listRecipients(ctx: Ctx, page: number, perPage: number) {
  const { items, total } = await ctx.store.alertRecipients.list(page, perPage);
  return { items: items.map(recipientView), total };
}

/** The signing secret of a webhook is returned here and never again. */
export async function addRecipient(ctx: Ctx, type: RecipientType, change: RecipientChange & { name: string }) {
  if ((await ctx.store.alertRecipients.count()) >= MOST_RECIPIENTS)
    throw new ServiceError('svc_rest_conflict', `There are ${MOST_RECIPIENTS} recipients already.`, {
      advice: 'Delete one that is no longer needed, or have another service forward alerts.',
    });
  const target = await checkedTarget(ctx, type, targetOf(type, change));
  await checkSites(ctx, change.sites);
  const fields = { ...STANDARD, ...fieldsOf(change) } as RecipientFields;
  checkQuietHours(fields);
  const row = await ctx.store.alertRecipients.add(type, fields, target, ctx.clock.now());
  emitChange(ctx);
  return { recipient: recipientView(row), secret: target.secret };
}

/** Where a recipient that is not stored yet would be reached; throws as adding it would. */
export function targetToTry(ctx: Ctx, type: RecipientType, change: RecipientChange): Promise<AlertTarget> {
  return checkedTarget(ctx, type, targetOf(type, change));
}

const STANDARD: Omit<RecipientFields, 'name'> = {
  kinds: '[]',
  site_ids: '[]',
  quiet_from: null,
  quiet_to: null,
  enabled: 1,
};

export async function editRecipient(ctx: Ctx, id: number, change: RecipientChange) {
  const before = await loadRecipient(ctx, id);
  const type = before.type as RecipientType;
  const parts = [change.url, change.secret, change.token, change.chat_id];
  const stored = parts.every((part) => part === undefined) ? undefined : await ctx.store.alertRecipients.target(before);
  const target = stored && (await checkedTarget(ctx, type, targetOf(type, change, stored)));
  if (target !== undefined) requireTokenFor(target, stored, change);
  await checkSites(ctx, change.sites);
  const fields = fieldsOf(change);
  checkQuietHours({ ...before, ...fields });
  const row = await ctx.store.alertRecipients.edit(before, fields, target);
  if (row === undefined) throw noSuchRecipient(id);
  emitChange(ctx);
  return recipientView(row);
}

export async function removeRecipient(ctx: Ctx, id: number) {
  const row = await loadRecipient(ctx, id);
  await ctx.store.alertRecipients.remove(id);
  emitChange(ctx);
  return recipientView(row);
}

export async function loadRecipient(ctx: Ctx, id: number): Promise<RecipientRow> {
  const row = await ctx.store.alertRecipients.find(id);
  if (row === undefined) throw noSuchRecipient(id);
  return row;
}

function noSuchRecipient(id: number): ServiceError {
  return new ServiceError('svc_alert_recipient_not_found', `There is no alert recipient ${id}.`, {
    field: 'recipient_id',
    advice: 'GET /v2/alerts/recipients lists them.',
  });
}

function emitChange(ctx: Ctx): void {
  ctx.events.emit({ name: 'settings.changed', facts: { group: 'alerts', fields: ['recipients'] } });
}

function fieldsOf(change: RecipientChange): Partial<RecipientFields> {
  const { name, kinds, sites, quiet_from, quiet_to, active } = change;
  return {
    ...(name === undefined ? {} : { name }),
    ...(kinds === undefined ? {} : { kinds: JSON.stringify(kinds) }),
    ...(sites === undefined ? {} : { site_ids: JSON.stringify(sites) }),
    ...(quiet_from === undefined ? {} : { quiet_from: quiet_from === null ? null : minutesOf(quiet_from) }),
    ...(quiet_to === undefined ? {} : { quiet_to: quiet_to === null ? null : minutesOf(quiet_to) }),
    ...(active === undefined ? {} : { enabled: active ? 1 : 0 }),
  };
}

function checkQuietHours({ quiet_from, quiet_to }: Pick<RecipientFields, 'quiet_from' | 'quiet_to'>): void {
  if ((quiet_from === null) === (quiet_to === null) && (quiet_from === null || quiet_from !== quiet_to)) return;
  throw wrong(
    quiet_from === null ? 'quiet_from' : 'quiet_to',
    'Quiet hours need a start and an end that differ.',
    'Send quiet_from and quiet_to as HH:MM, or null for both to have none.',
  );
}

/** Sites must exist. */
async function checkSites(ctx: Ctx, named: readonly number[] | undefined): Promise<void> {
  const missing = named === undefined ? [] : await ctx.store.alertRecipients.missingSites(named);
  if (missing.length > 0)
    throw wrong('sites', `No site has the id ${missing.slice(0, 10).join(', ')}.`, 'Find ids with GET /v2/sites.');
}

/** The target fields of each type, merged from a change and the previous values. */
function targetOf(type: RecipientType, change: RecipientChange, before?: AlertTarget): AlertTarget {
  const keep = <K extends keyof AlertTarget>(name: K) =>
    change[name] === undefined ? before?.[name] : (change[name] ?? undefined);
  const url = change.url ?? before?.url ?? (type === 'telegram' ? TELEGRAM : undefined);
  const needed = { url, ...(type === 'telegram' ? { token: keep('token'), chat_id: keep('chat_id') } : {}) };
  for (const [name, value] of Object.entries(needed))
    if (value === undefined) throw wrong(name, `A recipient of the type ${type} needs ${name}.`, `Send ${name}.`);
  const unused = (['secret', 'token', 'chat_id'] as const).filter((name) => !TAKES[type].includes(name));
  for (const name of unused)
    if (typeof change[name] === 'string')
      throw wrong(name, `A recipient of the type ${type} has no ${name}.`, `Leave ${name} out.`);
  const secret = type === 'webhook' ? (keep('secret') ?? `whsec_${randomBytes(32).toString('base64')}`) : undefined;
  const optional = { secret, token: keep('token'), chat_id: keep('chat_id') };
  return {
    url: url as string,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

const TAKES: Readonly<Record<RecipientType, readonly string[]>> = {
  webhook: ['secret'],
  slack: [],
  discord: [],
  teams: [],
  telegram: ['token', 'chat_id'],
  ntfy: ['token'],
};

/** The last part of the path, as ntfy allows it. */
const NTFY_TOPIC = /\/[-\w]{1,64}\/{0,9}$/;

async function checkedTarget(ctx: Ctx, type: RecipientType, target: AlertTarget): Promise<AlertTarget> {
  const url = parseUrl(target.url);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw wrong('url', 'url is not a web address.', 'Send the full URL, starting with https://.');
  if (url.username !== '' || url.password !== '')
    throw wrong('url', 'url must not contain a login.', 'Remove user and password from the URL.');
  if (type === 'ntfy' && !NTFY_TOPIC.test(url.pathname))
    throw wrong('url', 'url has no topic.', 'Send the URL with its topic, such as https://ntfy.sh/my-topic.');
  const refusal = await ctx.webhooks.refusal(url.href);
  if (refusal !== null) throw wrong('url', refusal, 'Use a public address, or set SITEFLEET_ALLOW_PRIVATE_SITES=1.');
  return { ...target, url: url.href };
}

/** A stored token is only sent to the server it was entered for. Otherwise changing the URL would reveal it. */
function requireTokenFor({ url }: AlertTarget, before: AlertTarget | undefined, { token }: RecipientChange): void {
  if (before?.token === undefined || token !== undefined) return;
  const { origin } = new URL(before.url);
  if (new URL(url).origin === origin) return;
  throw wrong('token', `The stored token is for ${origin} only.`, 'Send token again, or null for none.');
}

/** An error that names the field, as the schemas do. */
function wrong(field: string, message: string, advice: string): ServiceError {
  return new ServiceError('rest_invalid_param', message, { field, advice, data: { params: { [field]: message } } });
}
