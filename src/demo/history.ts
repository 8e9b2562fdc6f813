/** The past of the simulated sites before the demo started: outages, response times, updates. */

import { BUSINESSES } from './names.js';
import { mixSeed, Random } from './random.js';
import type { DemoSite } from './site.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** How far the past goes back. */
export const PAST_DAYS = 60;

export interface Outage {
  /** Milliseconds since 1970; `to` null = ongoing. */
  from: number;
  to: number | null;
  /** The site's response; null = none. */
  http_status: number | null;
}

export interface Past {
  outages: Outage[];
  /** What a visitor got at that time. `http_status` 0 = no response. */
  answerAt(at: number): { http_status: number; ms: number };
}

/** The past of one site, derived from its number and the end of the past alone. `downSince`: an ongoing outage. */
export function pastOf(index: number, now: number, downSince?: number): Past {
  const random = new Random(mixSeed(index, 0x9a57));
  const outages = pastOutages(random, now);
  if (downSince !== undefined) outages.push({ from: downSince, to: null, http_status: 500 });
  const usual = random.int(90, 420);
  const busyAt = random.int(8, 20) * HOUR_MS;
  return {
    outages,
    answerAt(at) {
      const found = outages.find(({ from, to }) => at >= from && (to === null || at < to));
      if (found !== undefined) return { http_status: found.http_status ?? 0, ms: 40 };
      // Slower in the busy hours of the day, and occasionally much slower.
      const day = Math.cos(((at - busyAt) / DAY_MS) * 2 * Math.PI);
      const noise = new Random(mixSeed(index, Math.floor(at / MINUTE_MS)));
      const spike = noise.chance(0.01) ? 3 : 1;
      return { http_status: 200, ms: Math.round(usual * (1 + 0.25 * day + 0.3 * noise.next()) * spike) };
    },
  };
}

/** Most sites fail once or twice in two months, about every ninth keeps failing. None of these outages is ongoing. */
function pastOutages(random: Random, now: number): Outage[] {
  const count = random.chance(0.11) ? random.int(6, 12) : random.int(0, 3);
  const lasting = [4, 7, 12, 25, 50, 110, 240];
  return Array.from({ length: count }, () => {
    const from = now - random.int(2 * 60, PAST_DAYS * 24 * 60) * MINUTE_MS;
    const to = Math.min(from + random.pick(lasting) * MINUTE_MS, now - HOUR_MS);
    return { from, to, http_status: random.pick([500, 502, 503, 504, null, null]) };
  }).sort((a, b) => a.from - b.from);
}

export interface PastUpdate {
  at: number;
  context: 'plugin' | 'theme' | 'core';
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
}

/** Updates that led to the site's current versions, oldest first. */
export function pastUpdates(site: DemoSite, now: number): PastUpdate[] {
  const random = new Random(mixSeed(site.index, 0x0bda7e));
  const { plugins, themes, wpVersion } = site.inner;
  const updates: PastUpdate[] = random
    .sample(
      plugins.filter(({ mustUse, lastUpdated }) => !mustUse && lastUpdated > 0),
      random.int(3, 9),
    )
    .map(({ slug, name, version }) => past(random, now, 'plugin', slug, name, version));
  for (const { slug, name, version } of random.sample(themes, 1))
    updates.push(past(random, now, 'theme', slug, name, version));
  if (random.chance(0.6)) updates.push(past(random, now, 'core', 'wordpress', 'WordPress', wpVersion));
  return updates.sort((a, b) => a.at - b.at);
}

function past(
  random: Random,
  now: number,
  context: PastUpdate['context'],
  slug: string,
  name: string,
  version: string,
): PastUpdate {
  const at = now - random.int(2 * 24, PAST_DAYS * 24) * HOUR_MS - random.int(0, 3_599) * 1000;
  return { at, context, slug, name, old_version: earlier(version), new_version: version };
}

/** A version just before this one. */
function earlier(version: string): string {
  const parts = version.split('.').map(Number);
  const last = parts.findLastIndex((part) => part > 0);
  return last < 0 ? '0.0.1' : parts.map((part, i) => (i === last ? part - 1 : part)).join('.');
}

/** A domain that could be the site's: under `.example`, which cannot be registered. */
export function domainOf(site: DemoSite): string {
  const business = BUSINESSES.find((each) => site.name.endsWith(each)) ?? 'site';
  const family = site.name.slice(0, -business.length);
  const plain = `${family}-${business}`
    .normalize('NFD')
    .toLowerCase()
    .replace(/ó|ł/g, 'o')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${plain}-${site.index + 1}.example`;
}
