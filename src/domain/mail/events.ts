/** Stores two kinds of events as alerts, from which the outbox makes mails: bad site health and failed checks after updates. */

import type { Event } from '../../core/events.js';
import type { NewAlert } from '../../store/monitoring/alerts.js';
import type { Ctx } from '../context.js';
import { healthRule } from '../settings/effects.js';

export interface MailListener {
  listen(event: Event): void;
  /** Resolves when everything heard so far is stored. Never rejects. */
  settled(): Promise<void>;
}

const MONTH_MS = 30 * 24 * 3_600_000;

export function createMailListener(context: () => Ctx): MailListener {
  let work: Promise<void> = Promise.resolve();
  return {
    listen(event) {
      if (event.name !== 'site.unhealthy' && event.name !== 'site.http_check_failed') return;
      work = work.then(async () => {
        const ctx = context();
        try {
          const alert = await alertOf(ctx, event);
          if (alert !== null) await ctx.store.alerts.add([alert]);
        } catch (error) {
          ctx.log.error({ err: error, event: event.name, site_id: event.site_id }, 'an alert could not be stored');
        }
      });
    },
    settled: () => work,
  };
}

async function alertOf(ctx: Ctx, event: Event): Promise<NewAlert | null> {
  const { site_id, at, name: kind, facts } = event;
  if (site_id === undefined) return null;
  if (kind === 'site.http_check_failed')
    return {
      key: `http_check:${site_id}:${at}`,
      kind,
      site_id,
      at,
      facts: { http_status: Number(facts.http_status) },
    };
  const score = Number(facts.health_score);
  // An event that carries its threshold was judged by the site's own rule; the global rule judges all others.
  const rule =
    typeof facts.threshold === 'number' ? { notify: true, threshold: facts.threshold } : await healthRule(ctx);
  const { notify, threshold } = rule;
  // The mail follows the score alone (REST §6.10.4); for the event a critical finding is enough.
  if (!notify || !Number.isFinite(score) || score >= threshold) return null;
  // The same finding comes back every day: one alert a month, and another when the score changes.
  return {
    key: `health:${site_id}:${score}:${Math.floor(at / MONTH_MS)}`,
    kind: 'site.unhealthy',
    site_id,
    at,
    facts: { health_score: score, threshold },
  };
}
