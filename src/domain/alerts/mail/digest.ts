/** The daily digest: pending updates, disconnected sites, completed work (REST §6.10.4). */

import { wallOf, wordpressTime } from '../../../runtime/time-zones.js';
import type { Digest } from '../../../store/mail/mail.js';
import type { Ctx } from '../../context.js';
import { SILENT } from '../../sites/status.js';
import { composeMail, type MailHead, pageLinks } from './alerts.js';
import { type MailContent, type MailTable, oneLine } from './layout.js';
import { mailLook, mailToSend } from './settings.js';

/** Not sent before this hour of the dashboard's day. */
const HOUR = 7;
const DAY_MS = 24 * 3_600_000;
const ROWS = 20;
const TYPES = ['WordPress', 'plugin', 'theme', 'translation'];

/** Adds today's digest to the outbox, once; called every hour. */
export async function dailyDigest(ctx: Ctx): Promise<string> {
  if (!ctx.mailer.configured) return 'no mail server is configured';
  const now = ctx.clock.now();
  const { zone, page } = await mailLook(ctx);
  if (wallOf(now, zone).hour < HOUR) return 'not yet';
  const head = await mailToSend(ctx, 'daily_digest');
  if (head === null) return 'it has no recipients';
  // The period begins where the last digest ended: digests are not always a day apart.
  const last = await ctx.store.mail.newest('daily_digest');
  const since = last !== null && last > now - 2 * DAY_MS ? last : now - DAY_MS;
  const digest = await ctx.store.mail.digest(since, ROWS);
  if (isEmpty(digest)) return 'nothing to report';
  const queued = await ctx.store.mail.queue(digestMail(digest, head, { since, now, zone, page }), now);
  return queued ? 'queued' : 'queued before';
}

function isEmpty(digest: Digest): boolean {
  const pending = digest.updates.reduce((sum, { n }) => sum + n, 0);
  return pending + digest.disconnected_total + digest.down_total + digest.done.length === 0;
}

interface Times {
  /** Start of the reported period. */
  since: number;
  now: number;
  zone: string;
  page: string | null;
}

export function digestMail(digest: Digest, head: MailHead, times: Times) {
  const { now, zone, page } = times;
  const day = wordpressTime(now, zone).slice(0, 10);
  const content: MailContent = {
    heading: oneLine(`${head.heading}, ${day}`),
    lines: [summary(digest)],
    links: pageLinks(page),
    tables: tables(digest, times),
  };
  return composeMail(
    'daily_digest',
    `daily_digest:${day}`,
    null,
    head,
    oneLine(`${head.subject}, ${day}`, 150),
    content,
  );
}

function summary({ updates, disconnected_total, down_total }: Digest): string {
  const counts = updates
    .filter(({ n }) => n > 0)
    .map(({ type, n }) => {
      const word = TYPES[type] ?? 'other';
      return type === 0 ? `${n} ${word}` : plural(n, word, `${word}s`);
    });
  const pending = counts.length === 0 ? 'No updates are pending.' : `Pending updates: ${counts.join(', ')}.`;
  const lost =
    disconnected_total === 0
      ? 'All sites are connected.'
      : `${plural(disconnected_total, 'site is', 'sites are')} disconnected.`;
  return [pending, lost, ...(down_total === 0 ? [] : [`${plural(down_total, 'site is', 'sites are')} down.`])].join(
    ' ',
  );
}

function tables(digest: Digest, { since, now, zone }: Times): MailTable[] {
  const all: MailTable[] = [
    {
      title: 'Down now',
      columns: ['Site', 'For'],
      rows: digest.down.map((site) => [site.name, duration(now - site.since)]),
      ...more(digest.down, digest.down_total),
    },
    {
      title: 'Disconnected',
      columns: ['Site', 'Reason'],
      rows: digest.disconnected.map((site) => [
        site.name,
        oneLine(site.reason === '' && site.unanswered ? SILENT : site.reason, 200),
      ]),
      ...more(digest.disconnected, digest.disconnected_total),
    },
    {
      title: 'Most pending updates',
      columns: ['Site', 'Updates'],
      rows: digest.most_updates.map((site) => [site.name, String(site.n)]),
    },
    {
      title: `Done since ${wordpressTime(since, zone).slice(0, 16)}`,
      columns: ['What', 'Times'],
      rows: digest.done.map(({ context, action, n }) => [`${context} ${action}`, String(n)]),
    },
  ];
  return all.filter(({ rows }) => rows.length > 0);
}

function more(shown: readonly unknown[], total: number) {
  return total > shown.length ? { more: `And ${total - shown.length} more.` } : {};
}

function plural(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

function duration(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes < 120) return plural(minutes, 'minute', 'minutes');
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1440)} days`;
}
