/** Plans and rollouts in sentences for people. Pure. */

import { WEEKDAYS } from '../../../../schemas/rollout.js';
import type { RolloutItemState } from '../../../store/rollouts/rollouts.js';
import { counted, listed } from '../../common/question.js';
import type { Rules } from './rules.js';

/** What would happen in which order, and when it stops. */
export function wavesWords(
  updates: number,
  sites: number,
  waves: readonly { sites: number }[],
  { soak_minutes, approve_waves, halt_sites, halt_percent, window }: Rules,
): string {
  const [first = 0, ...rest] = waves.map((wave) => wave.sites);
  const order =
    rest.length === 0 ? 'at once' : `first on ${counted(first, 'site')}, then on ${listed(rest.map(String))}`;
  const pause = rest.length === 0 ? '' : `, ${apart(soak_minutes)}${approve_waves ? ', each after an approval' : ''}`;
  const when =
    window === null ? '' : ` Only ${daysWords(window.days)} ${window.from}-${window.to} in the time zone of each site.`;
  const halts = ` Halts when ${counted(halt_sites, 'site')} ${halt_sites === 1 ? 'breaks or is' : 'break or are'} down, or updates fail on ${halt_percent} % of a wave. What breaks one site goes to no other.`;
  return `${counted(updates, 'update')} on ${counted(sites, 'site')}, ${order}${pause}.${when}${halts}`;
}

function apart(minutes: number): string {
  if (minutes === 0) return 'without a pause';
  return `${counted(minutes, 'minute')} apart`;
}

function daysWords(days: readonly number[]): string {
  return days.length === WEEKDAYS.length ? 'daily' : days.map((day) => WEEKDAYS[day]).join(', ');
}

/** How many updates can be rolled back, and how. */
export function protectionWords({ guard, reinstall, none }: Record<'guard' | 'reinstall' | 'none', number>): string {
  const all = guard + reinstall + none;
  if (all === 0) return '';
  if (none === all)
    return `${all === 1 ? 'The update' : `None of ${counted(all, 'update')}`} can${all === 1 ? 'not' : ''} be rolled back.`;
  const parts = [
    ...(guard === 0 ? [] : [`${guard} ${guard === 1 ? 'is' : 'are'} rolled back by a guard if the site breaks`]),
    ...(reinstall === 0
      ? []
      : [`${reinstall} without a guard can only be reinstalled, if wordpress.org has the old version`]),
    ...(none === 0 ? [] : [`${none} cannot be rolled back`]),
  ];
  return `Of ${counted(all, 'update')} ${parts.join(', ')}.`;
}

/** `Risks: major (3 updates on 2 sites), no guard (25 updates on 5 sites).` */
export function risksWords(risks: readonly { risk: string; updates: number; sites: number }[]): string {
  if (risks.length === 0) return '';
  const words = risks.map(({ risk, updates, sites }) => {
    return `${risk.replaceAll('_', ' ')} (${counted(updates, 'update')} on ${counted(sites, 'site')})`;
  });
  return `Risks: ${words.join(', ')}.`;
}

/** The reason of what needs the WordPress that the same plan installs. */
export const AWAITS_WORDPRESS = 'awaits_wordpress';

/** Reasons that their own names do not tell of a number of updates. */
const REASONS: Readonly<Record<string, string>> = {
  too_young: 'too young',
  age_unknown: 'of unknown age',
  no_known_fix: 'that fix no known vulnerability',
  ignored: 'that are ignored',
  automatic_update_off: 'on sites that take no automatic updates',
  excluded_site: 'on sites that are excluded',
  excluded_tag: 'on sites with an excluded tag',
  excluded_client: 'on sites of an excluded client',
  asked_apart: 'on sites that a person is asked for',
  version_quarantined: 'whose version is quarantined',
  backup_required: 'on sites that have no recent backup and cannot be backed up',
  requirement_missing: 'beyond the PHP or WordPress of the site',
  [AWAITS_WORDPRESS]: 'whose site first gets the WordPress that it needs by this plan',
  site_suspended: 'on suspended sites',
  site_offline: 'on sites that are not connected',
};

/** `Left out: 4 updates too young, 2 updates on sites that are excluded.` */
export function leftOutWords(left: readonly { reason: string; updates: number; sites: number }[]): string {
  if (left.length === 0) return '';
  const words = left.map(({ reason, updates, sites }) => {
    const what = updates > 0 ? counted(updates, 'update') : counted(sites, 'site');
    const why = (updates > 0 ? REASONS[reason] : undefined) ?? `(${reason.replaceAll('_', ' ')})`;
    return `${what} ${why}`;
  });
  return `Left out: ${words.join(', ')}.`;
}

const WORDS: Record<RolloutItemState, string> = {
  kept: 'kept',
  rolled_back: 'rolled back',
  failed: 'failed',
  skipped: 'skipped',
  unknown: 'unknown',
  queued: 'queued',
  updating: 'updating',
  checking: 'being checked',
  untouched: 'never touched',
};

/** `5 kept, 1 rolled back, 54 never touched`. */
export function countsWords(counts: Partial<Record<RolloutItemState, number>>): string {
  const parts = (Object.keys(WORDS) as RolloutItemState[]).flatMap((state) => {
    const n = counts[state] ?? 0;
    return n === 0 ? [] : [`${n} ${WORDS[state]}`];
  });
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
