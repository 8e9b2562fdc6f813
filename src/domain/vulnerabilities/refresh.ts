/**
 * Reads the vulnerability feed when it is due, completely or not at all. A copy that breaks off, or has lost much of
 * its content, replaces nothing.
 */

import { createHash } from 'node:crypto';
import { readFeedEntry } from '../../../schemas/vulnerability.js';
import type { FeedCopy } from '../../outbound/feed/vulnerability-feed.js';
import type { FeedRow, StagedEntry } from '../../store/vulnerabilities/feed.js';
import type { Ctx } from '../context.js';
import { alertNewVulnerabilities } from './alerts.js';
import { classifyVersions } from './classify.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The feed's terms allow one request per half hour. */
const RETRY_MS = HOUR_MS;
const LEASE = 'vulnerability-feed';
const LEASE_MS = 5 * 60_000;
/** Entries written at once. */
const STAGE = 200;
/** A copy with a smaller share of the previous copy's entries is considered damaged. */
const LEAST_SHARE = 0.9;
/** Share of entries that may be unreadable. */
const MOST_UNREADABLE = 0.02;

export interface RefreshOptions {
  /** Even if it is not due. */
  force?: boolean;
  /** Even if the feed has become much shorter. */
  accept_shorter?: boolean;
}

export interface Refreshed {
  outcome: 'off' | 'not_due' | 'busy' | 'unchanged' | 'read' | 'failed';
  /** The outcome in words. */
  message: string;
}

/** Used by the timetable and the shell. */
export async function refreshVulnerabilities(ctx: Ctx, options: RefreshOptions = {}): Promise<Refreshed> {
  await classifyVersions(ctx);
  const { source } = ctx.vulnerabilities;
  if (source === null) return { outcome: 'off', message: 'no feed is configured: SITEFLEET_VULNERABILITY_FEED' };
  const feeds = ctx.store.vulnerabilityFeeds;
  const now = ctx.clock.now();
  const state = await feeds.state();
  const same = state?.source === source ? state : undefined;
  if (options.force !== true && same !== undefined && now < same.next_at)
    return { outcome: 'not_due', message: 'not due' };
  const owner = ctx.request_id;
  const renew = async () => {
    const at = ctx.clock.now();
    return (await ctx.store.leases.acquire(LEASE, owner, at, at + LEASE_MS)) !== null;
  };
  if (!(await renew())) return { outcome: 'busy', message: 'another process is reading it' };
  try {
    return await look(ctx, source, same, options, renew);
  } catch (error) {
    if (ctx.signal.aborted || !isFeedFailure(error)) throw error;
    const wait = Math.max(RETRY_MS, error.retryAfterMs ?? 0);
    await feeds.failed(source, ctx.clock.now(), ctx.clock.now() + wait, error.message);
    ctx.log.warn({ reason: error.message }, 'the vulnerability feed could not be read');
    return { outcome: 'failed', message: error.message };
  } finally {
    await feeds.clearStaged();
    await ctx.store.leases.release(LEASE, owner);
  }
}

interface Failure extends Error {
  retryAfterMs: number | null;
}

function isFeedFailure(error: unknown): error is Failure {
  return error instanceof Error && error.name === 'FeedFailure';
}

function unusable(message: string): Failure {
  return Object.assign(new Error(message), { name: 'FeedFailure', retryAfterMs: null });
}

async function look(
  ctx: Ctx,
  source: string,
  state: FeedRow | undefined,
  options: RefreshOptions,
  renew: () => Promise<boolean>,
): Promise<Refreshed> {
  const feeds = ctx.store.vulnerabilityFeeds;
  // A copy that was refused for its length is requested again if it is to be accepted now.
  const known = state?.read_at == null ? null : { etag: state.etag, last_modified: state.last_modified };
  const copy = await ctx.vulnerabilities.open(known, ctx.signal);
  if (!copy.changed) {
    await feeds.unchanged(ctx.clock.now(), ctx.clock.now() + DAY_MS);
    await alertNewVulnerabilities(ctx, false);
    return { outcome: 'unchanged', message: 'nothing new' };
  }
  const { seen, unreadable, changed, gone } = await stage(ctx, copy, renew);
  const total = seen.size + unreadable;
  if (seen.size === 0) throw unusable('The feed has no entry in the format of Wordfence Intelligence v3.');
  if (unreadable > total * MOST_UNREADABLE)
    throw unusable(
      `${unreadable} of the ${total} entries of the feed are not in the format of Wordfence Intelligence v3.`,
    );
  if (options.accept_shorter !== true && seen.size < (state?.entries ?? 0) * LEAST_SHARE)
    throw unusable(
      `The feed has ${seen.size} entries, and had ${state?.entries}. If that is right: sitefleet vulnerabilities refresh --accept-shorter.`,
    );
  while (await feeds.takeStaged()) {
    ctx.signal.throwIfAborted();
    await renew();
  }
  await feeds.remove(gone);
  await classifyVersions(ctx);
  await ctx.store.classifications.forgetGone();
  await alertNewVulnerabilities(ctx, state?.read_at == null);
  const at = ctx.clock.now();
  await feeds.taken({ source, ...copy.stamp, entries: seen.size, unreadable }, at, at + DAY_MS);
  return {
    outcome: 'read',
    message: `${seen.size} entries, ${changed} new or changed, ${gone.length} gone${unreadable > 0 ? `, ${unreadable} unreadable` : ''}`,
  };
}

/**
 * Digest of an entry as it arrived. The number stands for the format in which entries are kept: when that changes, all
 * are read again.
 */
function digestOf(raw: unknown): string {
  return createHash('sha256')
    .update(`1 ${JSON.stringify(raw)}`)
    .digest('base64url')
    .slice(0, 22);
}

/** Stages new and changed entries while the feed arrives. */
async function stage(ctx: Ctx, copy: Extract<FeedCopy, { changed: true }>, renew: () => Promise<boolean>) {
  const feeds = ctx.store.vulnerabilityFeeds;
  await feeds.clearStaged();
  const known = await feeds.digests();
  const seen = new Set<string>();
  let unreadable = 0;
  let changed = 0;
  let waiting: StagedEntry[] = [];
  const flush = async () => {
    ctx.signal.throwIfAborted();
    changed += waiting.length;
    await feeds.stage(waiting);
    waiting = [];
    await renew();
  };
  for await (const batch of copy.batches)
    for (const raw of batch) {
      const digest = digestOf(raw);
      const uid = (raw as { id?: unknown } | null)?.id;
      // Nearly all entries are unchanged: parsing them again would be most of the work.
      if (typeof uid === 'string' && known.get(uid) === digest) {
        seen.add(uid);
        continue;
      }
      const entry = readFeedEntry(raw);
      if (entry === null) {
        unreadable++;
        continue;
      }
      seen.add(entry.uid);
      waiting.push({ entry, digest });
      if (waiting.length >= STAGE) await flush();
    }
  if (waiting.length > 0) await flush();
  return { seen, unreadable, changed, gone: [...known.keys()].filter((uid) => !seen.has(uid)) };
}
