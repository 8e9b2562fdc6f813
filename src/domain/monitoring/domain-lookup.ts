/**
 * One lookup of a registered domain and its consequences: what is stored, when the next one is due, which alerts are
 * raised.
 */

import type { DomainAnswer, DomainFacts } from '../../outbound/probe/probe.js';
import { type Alert, type EventFacts, emitAlerts } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { daysLeft, expiryStep } from './expiry.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Registries are asked weekly, and daily when the expiry is near. */
const FAR_MS = 7 * DAY_MS;
const NEAR_DAYS = 45;
const UNSUPPORTED_MS = 30 * DAY_MS;
const FIRST_RETRY_MS = 6 * HOUR_MS;

interface Known {
  name: string;
  expiry_date?: number | null;
  creation_date?: number | null;
  failures?: number;
  error?: string;
  source?: string | null;
  registrar?: string | null;
}

/** Asks the registry, stores the answer, emits the alerts. Known facts survive an answer that lacks them. */
export async function lookUpDomain(ctx: Ctx, known: Known): Promise<DomainAnswer> {
  const { name } = known;
  const answer = await ctx.probe.domain(name, ctx.signal);
  const now = ctx.clock.now();
  // A manually entered expiry raises alerts here as long as no registry answers.
  const byHand = known.source === 'manual' ? (known.expiry_date ?? null) : null;
  const atMost = (wait: number) => (byHand === null ? wait : Math.min(wait, dueIn(byHand, now)));
  const wasKnown = (known.expiry_date ?? known.creation_date ?? null) !== null;
  switch (answer.outcome) {
    case 'found':
      await ctx.store.domains.save(
        name,
        { ...answer.facts, source: answer.source },
        now,
        now + spread(name, dueIn(answer.facts.expiry_date, now)),
      );
      await raiseAlert(ctx, name, expiryAlert(answer.facts, now));
      break;
    case 'not_found': {
      const again = known.error === answer.message;
      await ctx.store.domains.miss(
        name,
        answer.message,
        now,
        now + spread(name, wasKnown && !again ? HOUR_MS : DAY_MS),
      );
      // A registry that loses a record for an hour is not news; a domain that is missing twice is.
      if (wasKnown && again)
        await raiseAlert(ctx, name, {
          key: `domain:${name}:gone:${known.expiry_date ?? known.creation_date}`,
          kind: 'domain.not_found',
          facts: { problem: answer.message },
        });
      break;
    }
    case 'unsupported':
      await ctx.store.domains.miss(name, answer.message, now, now + spread(name, atMost(UNSUPPORTED_MS)));
      break;
    case 'rate_limited':
      await ctx.store.domains.miss(name, answer.message, now, now + answer.retryAfterMs + spread(name, HOUR_MS) / 4);
      break;
    case 'failed': {
      const wait = Math.min(FIRST_RETRY_MS * 2 ** Math.min(known.failures ?? 0, 10), FAR_MS);
      await ctx.store.domains.miss(name, answer.message, now, now + spread(name, atMost(wait)));
    }
  }
  if (byHand !== null && answer.outcome !== 'found' && answer.outcome !== 'not_found')
    await raiseAlert(
      ctx,
      name,
      expiryAlert({ expiry_date: byHand, domain_name: name, registrar: known.registrar ?? null }, now),
    );
  return answer;
}

export function dueIn(end: number | null, now: number): number {
  return end !== null && daysLeft(end, now) <= NEAR_DAYS ? DAY_MS : FAR_MS;
}

/**
 * Varies the wait by up to a tenth, depending on the name, so that domains that were looked up together drift apart.
 */
function spread(name: string, ms: number): number {
  let hash = 0;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return Math.round(ms * (0.9 + (0.2 * hash) / 1_000_003));
}

type DomainAlert = Alert<'domain.expiring' | 'domain.expired' | 'domain.not_found'>;
/** An alert without the members that all domain alerts share. */
type DomainNews = {
  [K in DomainAlert['kind']]: { key: string; kind: K; facts: Omit<EventFacts[K], 'domain_name' | 'site_ids'> };
}[DomainAlert['kind']];

function expiryAlert(
  facts: Pick<DomainFacts, 'domain_name' | 'expiry_date' | 'registrar'>,
  now: number,
): DomainNews | null {
  const end = facts.expiry_date;
  const step = end === null ? null : expiryStep(end, now);
  if (end === null || step === null) return null;
  return {
    key: `domain:${facts.domain_name}:${end}:${step}`,
    kind: step === 'expired' ? 'domain.expired' : 'domain.expiring',
    facts: { expiry_date: isoTime(end), expires: daysLeft(end, now), registrar: facts.registrar },
  };
}

/** One alert per domain, however many sites use it. */
async function raiseAlert(ctx: Ctx, name: string, news: DomainNews | null): Promise<void> {
  if (news === null) return;
  const sites = await ctx.store.domains.sitesOf(name);
  const [only] = sites;
  const alert = {
    ...news,
    site_id: sites.length === 1 && only !== undefined ? only : null,
    at: ctx.clock.now(),
    facts: { domain_name: name, site_ids: sites, ...news.facts },
  } as DomainAlert;
  emitAlerts(ctx.events, await ctx.store.alerts.add([alert]));
}
