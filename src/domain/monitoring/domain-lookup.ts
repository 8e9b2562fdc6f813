/** One lookup of a registered domain and what follows from it: the stored result, the next turn, the alerts. */

import type { AlertFacts, AlertKind } from '../../../schemas/alert.js';
import type { DomainAnswer, DomainFacts } from '../../probe/probe.js';
import type { NewAlert } from '../../store/monitoring/alerts.js';
import type { Ctx } from '../context.js';
import { isoTime } from '../sites/sites.js';
import { daysLeft, expiryStep } from './expiry.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Registries are asked weekly, and daily once the end is near. */
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

/** Asks the registry, stores the answer, raises the alerts. An answer without facts leaves what is known as it is. */
export async function lookUpDomain(ctx: Ctx, known: Known): Promise<DomainAnswer> {
  const { name } = known;
  const answer = await ctx.probe.domain(name, ctx.signal);
  const now = ctx.clock.now();
  // An end that was entered by hand raises alerts as long as no registry names one.
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
      await raise(ctx, name, expiryAlert(answer.facts, now));
      break;
    case 'not_found': {
      const again = known.error === answer.message;
      await ctx.store.domains.miss(
        name,
        answer.message,
        now,
        now + spread(name, wasKnown && !again ? HOUR_MS : DAY_MS),
      );
      // Registries lose domains for an hour: only a domain that is missing twice is news.
      if (wasKnown && again)
        await raise(ctx, name, {
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
    await raise(
      ctx,
      name,
      expiryAlert({ expiry_date: byHand, domain_name: name, registrar: known.registrar ?? null }, now),
    );
  return answer;
}

export function dueIn(end: number | null, now: number): number {
  return end !== null && daysLeft(end, now) <= NEAR_DAYS ? DAY_MS : FAR_MS;
}

/** The wait, varied by up to a tenth depending on the name: domains that were looked up together drift apart. */
function spread(name: string, ms: number): number {
  let hash = 0;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return Math.round(ms * (0.9 + (0.2 * hash) / 1_000_003));
}

type DomainAlert = { [K in Extract<AlertKind, `domain.${string}`>]: DomainAlertOf<K> }[Extract<
  AlertKind,
  `domain.${string}`
>];

/** An alert without what is the same for all: the name and the sites under it. */
interface DomainAlertOf<K extends AlertKind> {
  key: string;
  kind: K;
  facts: Omit<AlertFacts[K], 'domain_name' | 'site_ids'>;
}

function expiryAlert(
  facts: Pick<DomainFacts, 'domain_name' | 'expiry_date' | 'registrar'>,
  now: number,
): DomainAlert | null {
  const end = facts.expiry_date;
  const step = end === null ? null : expiryStep(end, now);
  if (end === null || step === null) return null;
  return {
    key: `domain:${facts.domain_name}:${end}:${step}`,
    kind: step === 'expired' ? 'domain.expired' : 'domain.expiring',
    facts: { expiry_date: isoTime(end), expires: daysLeft(end, now), registrar: facts.registrar },
  };
}

/** One alert for a domain, however many sites live under it. */
async function raise(ctx: Ctx, name: string, due: DomainAlert | null): Promise<void> {
  if (due === null) return;
  const sites = await ctx.store.domains.sitesOf(name);
  const [only] = sites;
  const alert = {
    ...due,
    site_id: sites.length === 1 && only !== undefined ? only : null,
    at: ctx.clock.now(),
    facts: { domain_name: name, site_ids: sites, ...due.facts },
  } as NewAlert;
  for (const { kind, facts, site_id } of await ctx.store.alerts.add([alert]))
    ctx.events.emit({ name: kind, ...(site_id === null ? {} : { site_id }), facts });
}
