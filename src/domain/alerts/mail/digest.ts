/** The daily digest: the picture of a morning, from the same source as the fleet brief (REST §6.10.4). */

import { wallOf, wordpressTime } from '../../../runtime/time-zones.js';
import type { ChainHead } from '../../../store/action-log/chain.js';
import { logHead } from '../../action-log/head.js';
import { counted } from '../../common/question.js';
import type { Ctx } from '../../context.js';
import { type Attention, attentionOf, briefData, type FleetData, siteCounts, type Times } from '../../fleet/brief.js';
import { TYPE_GROUPS } from '../../updates/results.js';
import { timeOfDay } from '../words.js';
import { composeMail, type MailHead, pageLinks, sitePage } from './alerts.js';
import { type MailContent, type MailLook, type MailTable, oneLine } from './layout.js';
import { mailLook, mailToSend } from './settings.js';

/** Not sent before this hour of the dashboard's day. */
const HOUR = 7;
const DAY_MS = 24 * 3_600_000;
/** Maximum cases listed per matter. */
const CASES = 10;
/** Maximum kinds of work listed. */
const DONE = 20;
const OFFERS = ['WordPress', 'plugin', 'theme', 'translation'];
/** What there is one of, or several. */
const LABELS: Readonly<Record<Attention['name'], readonly [string, string]>> = {
  broken: ['site broken after an update', 'sites broken after an update'],
  after_update: ['site down since an update', 'sites down since an update'],
  down: ['site down', 'sites down'],
  disconnected: ['site disconnected', 'sites disconnected'],
  unreachable: ['front page not reachable', 'front pages not reachable'],
  suspect: ['update that may have done harm', 'updates that may have done harm'],
  rolled_back: ['update rolled back', 'updates rolled back'],
  failed: ['failed update', 'failed updates'],
  certificates: ['certificate about to expire', 'certificates about to expire'],
  domains: ['domain about to expire', 'domains about to expire'],
  vulnerable: ['site with known vulnerabilities', 'sites with known vulnerabilities'],
  jobs: ['job with failed sites', 'jobs with failed sites'],
  stale: ['site not synced for a week', 'sites not synced for a week'],
};

/** Adds today's digest to the outbox, once; called every hour. */
export async function dailyDigest(ctx: Ctx): Promise<string> {
  if (!ctx.mailer.configured) return 'no mail server is configured';
  const now = ctx.clock.now();
  const look = await mailLook(ctx);
  if (wallOf(now, look.zone).hour < HOUR) return 'not yet';
  const head = await mailToSend(ctx, 'daily_digest');
  if (head === null) return 'it has no recipients';
  // The period begins where the last digest ended: digests are not always a day apart.
  const last = await ctx.store.mail.newest('daily_digest');
  const since = last !== null && last > now - 2 * DAY_MS ? last : now - DAY_MS;
  const digest = await digestOf(ctx, since, look);
  if (isEmpty(digest)) return 'nothing to report';
  const queued = await ctx.store.mail.queue(digestMail(digest, head, look), now);
  return queued ? 'queued' : 'queued before';
}

export interface Digest extends Pick<FleetData, 'offers' | 'done' | 'sites'> {
  now: number;
  /** Start of the reported period. */
  since: number;
  attention: Attention[];
  /** The last entry of the action log: noted here, it cannot be cut off unseen. */
  head: ChainHead | null;
}

/** What the digest tells of the time since this instant (ms). */
export async function digestOf(ctx: Ctx, since: number, { zone }: MailLook): Promise<Digest> {
  const now = ctx.clock.now();
  const data = await briefData(ctx, now, since, CASES);
  const times: Times = {
    minute: (ms) => timeOfDay(ms, now, zone),
    day: (ms) => wordpressTime(ms, zone).slice(0, 10),
  };
  const { offers, done, sites } = data;
  return { now, since, offers, done, sites, attention: attentionOf(data, times), head: await logHead(ctx) };
}

function isEmpty({ attention, offers, done }: Digest): boolean {
  return attention.length === 0 && offers.every(({ n }) => n === 0) && done.length === 0;
}

export function digestMail(digest: Digest, head: MailHead, { zone, page }: MailLook) {
  const day = wordpressTime(digest.now, zone).slice(0, 10);
  const content: MailContent = {
    heading: oneLine(`${head.heading}, ${day}`),
    lines: summary(digest),
    links: pageLinks(page),
    tone: digest.attention.length === 0 ? 'good' : 'warning',
    tables: [...digest.attention.map((matter) => matterTable(matter, page)), ...doneTable(digest, zone)],
  };
  const news = digest.attention.slice(0, 3).map(labelled).join(', ');
  const subject = `${head.subject}, ${day}${news === '' ? '' : `: ${news}`}`;
  return composeMail('daily_digest', `daily_digest:${day}`, null, head, oneLine(subject, 150), content);
}

const labelled = ({ name, count }: Attention) => counted(count, ...LABELS[name]);

function summary({ attention, offers, sites, head }: Digest): string[] {
  const { total, suspended } = siteCounts(sites);
  const all = `${counted(total, 'site')}${suspended === 0 ? '' : `, ${suspended} of them suspended`}`;
  const state = `${all}. ${attention.length === 0 ? 'Nothing needs attention.' : `${attention.map(labelled).join(', ')}.`}`;
  const pending = TYPE_GROUPS.flatMap((_, type) => {
    const n = offers.find((row) => row.type === type)?.n ?? 0;
    const word = OFFERS[type] ?? 'other';
    return n === 0 ? [] : [type === 0 ? `${n} ${word}` : counted(n, word)];
  });
  return [
    state,
    pending.length === 0 ? 'No updates are pending.' : `Pending updates: ${pending.join(', ')}.`,
    ...(head === null ? [] : [`The log of actions ends with entry ${head.id}:${head.hash}`]),
  ];
}

function matterTable({ name, matter, count, cases }: Attention, page: string | null): MailTable {
  const rows = cases.map(({ site_id, address, seen }) => {
    const label = oneLine(address, 200);
    const site = page === null || site_id === null ? label : { label, url: sitePage(page, site_id) };
    return [site, oneLine(seen, 200)];
  });
  const title = `${matter.charAt(0).toUpperCase()}${matter.slice(1)}: ${count}`;
  // Those that are listed are vulnerable items or reasons, and those that are counted are sites or updates.
  const more = name === 'vulnerable' || name === 'failed' ? 'And more.' : `And ${count - rows.length} more.`;
  return { title, columns: ['', ''], rows, ...(rows.length === CASES && count > CASES && { more }) };
}

function doneTable({ done, since, now }: Digest, zone: string): MailTable[] {
  const rows = done
    .slice(0, DONE)
    .map(({ context, action, n, sites }) => [
      `${context} ${action}`,
      String(n),
      sites === 0 ? '' : `on ${counted(sites, 'site')}`,
    ]);
  const title = `Done since ${timeOfDay(since, now, zone)}`;
  return rows.length === 0 ? [] : [{ title, columns: ['', '', ''], rows }];
}
