/**
 * Imports one site of a fleet file: verified by one signed read with the included key, then stored completely or not at
 * all.
 */

import { createPrivateKey } from 'node:crypto';
import { type FleetDetails, type FleetMonitor, type FleetSite, fleetDetails } from '../../../schemas/fleet.js';
import { fold } from '../../../schemas/fold.js';
import { ChildFailure, type Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { FieldChanges } from '../../runtime/events.js';
import { groupBy } from '../../runtime/group-by.js';
import type { KnownSite, MonitorColumns } from '../../store/import/import.js';
import { otherRecords } from '../connection/other-records.js';
import { STORED_PARTS } from '../connection/sync.js';
import type { Ctx } from '../context.js';
import { syncSettings } from '../settings/effects.js';
import { siteCallError } from '../sites/load.js';
import { loadRecord } from '../sites/sites.js';
import { ownAddress, type StoredUrl, shownHost, storedUrl } from '../sites/urls.js';
import { FLAGS, WORD_OF } from '../updates/ignored.js';
import { ignoredRows, type Links } from './links.js';

export type Outcome =
  | { list: 'imported'; site_id: number; url: string; name: string }
  | { list: 'exists'; site_id: number; url: string; name: string }
  /** `site_id` null = not stored; the file has to be imported again. */
  | { list: 'unreachable'; site_id: number | null; url: string; code: string; message: string; advice: string }
  | { list: 'invalid'; url: string; message: string }
  /** The run was ended before its turn. */
  | { list: 'pending'; url: string };

/** A site of a file, ready to be stored. */
export type Prepared = FleetSite & { address: StoredUrl };

/** A site with its address and key in stored form. Throws `svc_invalid_url` or `svc_invalid_input`. */
export function prepare(site: FleetSite): Prepared {
  return { ...site, address: storedUrl(site.url), private_key: pkcs8(site.private_key) };
}

function pkcs8(pem: string): string {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch {
    // The parser's own message may quote the key.
  }
  throw new ServiceError('svc_invalid_input', 'private_key is not a readable RSA private key.', {
    field: 'private_key',
    advice: 'Sync the site in the other dashboard; when that works, export again.',
  });
}

export async function importSite(
  ctx: Ctx,
  site: Prepared,
  known: KnownSite | undefined,
  links: Pick<Links, 'tags' | 'clients'>,
  trial: boolean,
): Promise<Outcome> {
  if (known !== undefined) return again(ctx, site, known);
  const { url } = site.address;
  if (trial && site.trial_obstacle !== '') return unreachable(null, url, obstacle(site));
  // A suspended site is never contacted: it is stored unverified.
  if (site.suspended) return add(ctx, site, links, trial, null, null);
  try {
    return await add(ctx, site, links, trial, await read(ctx, site, trial), null);
  } catch (error) {
    if (!(error instanceof ChildFailure)) throw error;
    if (error.kind === 'cancelled') return { list: 'pending', url };
    if (error.kind === 'blocked_address') return { list: 'invalid', url, message: error.message };
    return add(ctx, site, links, trial, null, siteCallError(error, 0, 'svc_sync_failed'));
  }
}

async function read(ctx: Ctx, site: Prepared, trial: boolean): Promise<Snapshot> {
  const { abandonedAfterDays, parts } = await syncSettings(ctx);
  return ctx.child.bulk().stats(
    {
      url: site.address.url,
      http_user: site.http_user,
      http_pass: site.http_pass,
      ssl_verify: site.ssl_verify,
      ipv4_only: site.force_use_ipv4 === 2 ? undefined : site.force_use_ipv4 === 1,
      min_tls: site.ssl_version === 7 ? 'TLSv1.3' : site.ssl_version === 6 ? 'TLSv1.2' : undefined,
      site_id: 0,
      user: site.admin,
      private_key: site.private_key,
      reads_only: trial,
    },
    {
      abandonedAfterDays,
      changesAfter: 0,
      renewRegverify: site.regverify === null,
      parts: { ...STORED_PARTS, ...parts },
    },
    { signal: ctx.signal },
  );
}

/**
 * Stores a site with everything that belongs to it, in one transaction. One that did not answer is stored with the
 * reason, for the next sync.
 */
async function add(
  ctx: Ctx,
  site: Prepared,
  links: Pick<Links, 'tags' | 'clients'>,
  trial: boolean,
  snapshot: Snapshot | null,
  failure: ServiceError | null,
): Promise<Outcome> {
  const [other] = await otherRecords(ctx, snapshot?.site_url);
  if (other !== undefined) {
    const { id, url, name } = await loadRecord(ctx, other);
    return { list: 'exists', site_id: id, url, name };
  }
  const stored = ownAddress(site.address, snapshot?.site_url);
  const name = site.name === '' ? shownHost(stored.url) : site.name;
  const now = ctx.clock.now();
  const id = await ctx.store.sites.add(
    {
      ...stored,
      name,
      title_tries: site.name === '' ? 0 : null,
      client_id: (site.client === null ? undefined : links.clients.get(site.client)) ?? null,
      tags: site.tags.flatMap((tag) => links.tags.get(fold(tag)) ?? []),
      admin_username: site.admin,
      ssl_verify: site.ssl_verify,
      unique_id: site.unique_id,
      private_key: site.private_key,
      regverify: snapshot?.regverify ?? site.regverify,
      http_user: site.http_user,
      http_pass: site.http_pass,
    },
    now,
    (siteId) => [
      ...(snapshot === null ? [] : ctx.store.inventory.first(siteId, stored.url_key, snapshot, now)),
      ...ctx.store.siteImport.rest(
        siteId,
        { ...detailsOf(site), ssl_version: site.ssl_version, on_trial: trial },
        ignoredRows(site.ignored),
        monitorColumns(site.monitor),
        failure === null ? null : { code: failure.code, message: failure.message, at: now },
      ),
    ],
  );
  if (id === undefined) {
    const [other] = await ctx.store.siteImport.known([stored.url_key]);
    if (other === undefined) throw new ServiceError('svc_site_add_failed', `${stored.url} could not be stored.`);
    return { list: 'exists', site_id: other.id, url: other.url, name: other.name };
  }
  ctx.events.emit({ name: 'site.added', site_id: id, facts: { url: stored.url } });
  tellIgnored(ctx, id, site);
  if (failure === null) return { list: 'imported', site_id: id, url: stored.url, name };
  return unreachable(id, stored.url, failure);
}

/** What hides updates of the new site, as the operations that ignore updates tell it. */
function tellIgnored(ctx: Ctx, siteId: number, site: Prepared): void {
  const tell = (facts: { type: string; slug?: string }, changed: FieldChanges) =>
    ctx.events.emit({ name: 'update.ignored', site_id: siteId, facts, changed });
  for (const type of Object.values(WORD_OF)) if (site[FLAGS[type]]) tell({ type }, { [FLAGS[type]]: [0, 1] });
  for (const [first, ...others] of groupBy(site.ignored, ({ type, slug }) => JSON.stringify([type, slug])).values())
    if (first !== undefined)
      tell({ type: first.type, slug: first.slug }, { ignored: [[], [first, ...others].map(({ version }) => version)] });
}

/**
 * A site that is already stored is left unchanged, unless its last sync failed or it never answered. The key of the
 * file may be newer than ours, so it is tried, and kept if it works.
 */
async function again(ctx: Ctx, site: Prepared, known: KnownSite): Promise<Outcome> {
  const { id, url, name } = known;
  const never = known.last_sync === null;
  if (known.suspended === 1 || known.disconnected > 0 || (!never && known.sync_error === ''))
    return { list: 'exists', site_id: id, url, name };
  const trial = known.on_trial === 1;
  try {
    if (trial && site.trial_obstacle !== '') throw obstacle(site);
    const snapshot = await read(ctx, site, trial);
    await ctx.store.sites.replaceKey(id, { ...site, regverify: snapshot.regverify ?? site.regverify });
    await ctx.store.inventory.save(
      { ...(await loadRecord(ctx, id)), content_hash: '' },
      snapshot,
      ctx.clock.now(),
      true,
    );
    ctx.events.emit({ name: 'site.synced', site_id: id, facts: {} });
    return { list: 'imported', site_id: id, url, name };
  } catch (error) {
    const failure = siteCallError(error, id, 'svc_sync_failed');
    if (failure.code === 'svc_cancelled') return { list: 'pending', url };
    if (failure.code === 'svc_internal_error' || failure.code === 'svc_storage_unavailable') throw failure;
    if (never) await ctx.store.sites.replaceKey(id, site);
    return unreachable(id, url, failure);
  }
}

function obstacle(site: Prepared): ServiceError {
  return new ServiceError('svc_site_refused', site.trial_obstacle, { advice: 'Then import again.' });
}

function unreachable(siteId: number | null, url: string, { code, message, advice = '' }: ServiceError): Outcome {
  return { list: 'unreachable', site_id: siteId, url, code, message, advice };
}

function detailsOf(site: FleetSite): FleetDetails {
  const names = Object.keys(fleetDetails()) as (keyof FleetDetails)[];
  return Object.fromEntries(names.map((name) => [name, site[name]])) as FleetDetails;
}

function monitorColumns(monitor: FleetMonitor): MonitorColumns {
  const { interval, timeout, expected_status, active, ...same } = monitor;
  return {
    ...same,
    active: active === null ? null : active ? 1 : 0,
    interval_min: interval,
    timeout_s: timeout,
    expected_status: expected_status === null ? null : JSON.stringify(expected_status),
  };
}
