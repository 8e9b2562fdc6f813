/** Finding, showing and refusing clients: shared by the verbs of clients. */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ClientItemRow, ClientKey, ClientRow, ClientWrite } from '../../store/clients/rows.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { type Standing, standingIn } from '../sites/status.js';

export type ClientRef = number | string;
export type ClientStatus = 'active' | 'suspended';

export type ClientView = ReturnType<typeof clientView>;

export interface ClientHead {
  client_id: number;
  client_name: string;
}

/**
 * A client by id or e-mail (operations §4.2), or by its exact name. Throws `svc_client_not_found`, or `svc_invalid_input`
 * for a name that several have.
 */
export async function findClient(ctx: Ctx, ref: ClientRef): Promise<ClientRow> {
  const meaning = `client ${ref}`;
  const id = ctx.call?.meant.get(meaning);
  const key = id === undefined ? keyOf(ref) : { id };
  const client = key === undefined ? undefined : ((await ctx.store.clients.find(key)) ?? (await clientNamed(ctx, key)));
  if (client === undefined) throw notFound(ref);
  ctx.call?.meant.set(meaning, client.id);
  return client;
}

const MOST_CANDIDATES = 10;

/** The only client of a name. Throws `svc_invalid_input` if several have it. */
async function clientNamed(ctx: Ctx, key: ClientKey): Promise<ClientRow | undefined> {
  if ('id' in key || key.email.includes('@')) return undefined;
  const found = await ctx.store.clients.named(key.email, MOST_CANDIDATES + 1);
  const [only, ...others] = found;
  if (only === undefined || others.length === 0) return only && ctx.store.clients.find({ id: only.id });
  const shown = found.slice(0, MOST_CANDIDATES).map(({ id, email }) => (email ? `${id} (${email})` : String(id)));
  const count = found.length > MOST_CANDIDATES ? `more than ${MOST_CANDIDATES}` : String(found.length);
  throw new ServiceError(
    'svc_invalid_input',
    `client_id_or_email: ${JSON.stringify(key.email.slice(0, 100))} names ${count} clients: ${shown.join(', ')}.`,
    { field: 'client_id_or_email', advice: 'Name the client by its id or e-mail.' },
  );
}

/** Throws `svc_invalid_input` for the blank name of a client or tag. */
export function requireName(name: string): void {
  if (name !== '') return;
  throw new ServiceError('svc_invalid_input', 'name is blank. Nothing changed.', {
    field: 'name',
    advice: 'Send a name with at least one visible character.',
  });
}

export function clientHead(client: { id: number; name: string }): ClientHead {
  return { client_id: client.id, client_name: client.name };
}

/** A site in the lists of a client or tag. */
export function siteItem({ id, url, name, status, ...more }: SiteRow & Standing) {
  return { id, url, name, status, ...standingIn(more) };
}

/** Longer than any e-mail or name of a client, which is not looked for: comparing a megabyte takes its time. */
const LONGEST_REF = 1000;

function keyOf(ref: ClientRef): ClientKey | undefined {
  if (typeof ref === 'number') return Number.isSafeInteger(ref) ? { id: ref } : undefined;
  if (ref.length > LONGEST_REF) return undefined;
  const text = ref.trim().replaceAll('\0', '');
  if (!/^\d+$/.test(text)) return text === '' ? undefined : { email: text };
  return Number.isSafeInteger(Number(text)) ? { id: Number(text) } : undefined;
}

/** The client of a successful write; throws the error of a failed one. */
export function stored(
  write: ClientWrite,
  sites: readonly number[],
  ref: ClientRef = '',
): Extract<ClientWrite, { outcome: 'stored' }> {
  switch (write.outcome) {
    case 'stored':
      return write;
    case 'no_client':
      throw notFound(ref);
    case 'email_taken':
      throw new ServiceError('svc_already_exists', 'client_email: another client has this address. Nothing changed.', {
        field: 'client_email',
        advice: 'Use another address, or change the other client; get-client-v1 finds it by the address.',
      });
    case 'no_site': {
      const missing = write.missing[0] ?? 0;
      const field = `selected_sites[${sites.indexOf(missing)}]`;
      throw new ServiceError('svc_site_not_found', `${field}: no site has the id ${missing}. Nothing changed.`, {
        field,
        advice: 'Find the right ids with list-sites-v1.',
        data: { site_ids: [...new Set(write.missing)] },
      });
    }
  }
}

export function notFound(ref: ClientRef): ServiceError {
  const shown = JSON.stringify(typeof ref === 'string' ? ref.slice(0, 100) : ref);
  return new ServiceError('svc_client_not_found', `client_id_or_email: there is no client ${shown}.`, {
    field: 'client_id_or_email',
    advice: 'Find the right id or e-mail with list-clients-v1.',
  });
}

export function clientItem(row: ClientItemRow) {
  const status: ClientStatus = row.suspended === 1 ? 'suspended' : 'active';
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    phone: row.phone,
    status,
    sites_count: row.sites_count,
    created_at: isoTime(row.created_at),
  };
}

export function clientView(row: ClientRow) {
  const { address_1, address_2, city, state, zip, country, note } = row;
  return {
    ...clientItem(row),
    address_1,
    address_2,
    city,
    state,
    zip,
    country,
    note,
    updated_at: isoTime(row.updated_at),
  };
}
