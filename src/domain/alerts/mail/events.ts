/** Stores events as alerts that no other code stores; the outbox makes mails of them. */

import type { Alert, Event } from '../../../runtime/events.js';
import type { Ctx } from '../../context.js';
import { healthRule } from '../../settings/effects.js';

export interface MailListener {
  listen(event: Event): void;
  /** Resolves when everything received so far is stored. Never rejects. */
  settled(): Promise<void>;
}

/** Events that are stored as alerts here, rather than by the verb that emits them. */
const ALERTING = ['site.unhealthy', 'site.http_check_failed', 'update.broke_site', 'update.suspect'] as const;
type AlertingEvent = Event<(typeof ALERTING)[number]>;

function isAlerting(event: Event): event is AlertingEvent {
  return ALERTING.some((name) => name === event.name);
}

const MONTH_MS = 30 * 24 * 3_600_000;

export function createMailListener(context: () => Ctx): MailListener {
  let work: Promise<void> = Promise.resolve();
  return {
    listen(event) {
      if (!isAlerting(event)) return;
      work = work.then(async () => {
        const ctx = context();
        try {
          const alert = await alertOf(ctx, event);
          if (alert !== null) await ctx.store.alerts.add([alert]);
        } catch (error) {
          ctx.log.error({ err: error, event: event.name, site_id: event.site_id }, 'an alert could not be saved');
        }
      });
    },
    settled: () => work,
  };
}

async function alertOf(ctx: Ctx, event: AlertingEvent): Promise<Alert | null> {
  const { site_id, at } = event;
  switch (event.name) {
    case 'site.http_check_failed':
      return { key: `http_check:${site_id}:${at}`, kind: event.name, site_id, at, facts: event.facts };
    case 'update.broke_site':
    case 'update.suspect':
      return { key: `${event.name}:${event.facts.change_id}`, kind: event.name, site_id, at, facts: event.facts };
    case 'site.unhealthy':
      return healthAlert(ctx, event);
  }
}

async function healthAlert(
  ctx: Ctx,
  { site_id, at, name: kind, facts }: Event<'site.unhealthy'>,
): Promise<Alert | null> {
  const { health_score: score } = facts;
  // An event that carries its threshold was judged by the site's own rule; all others are judged by the global rule.
  const rule = facts.threshold === undefined ? await healthRule(ctx) : { notify: true, threshold: facts.threshold };
  const { notify, threshold } = rule;
  // The mail depends on the score alone (REST §6.10.4), unlike the event, for which a critical finding suffices.
  if (!notify || score === null || score >= threshold) return null;
  // The same finding recurs every day: one alert a month, and another when the score changes.
  return { key: `health:${site_id}:${score}:${Math.floor(at / MONTH_MS)}`, kind, site_id, at, facts };
}
