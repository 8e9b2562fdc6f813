/** What the subscriptions of the fleet cost and bring: by client, by site, or by the month in which they are due. */

import type { COST_GROUPS, RenewalType } from '../../../schemas/cost.js';
import { cleanLine } from '../../../schemas/text.js';
import { ServiceError } from '../../runtime/errors.js';
import { dateOf } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { settingOf } from '../settings/effects.js';
import { requireModule } from '../settings/modules.js';
import { nextDue, share, totals } from './costs.js';
import { type Fraction, plus, rounded, times, ZERO } from './money.js';
import { nextRenewal, plusMonths } from './periods.js';

const DAY_MS = 86_400_000;
/** How many months are told, the present one included. */
const MONTHS = 12;
const NAME = 60;

/** Active subscriptions and the share of each of their sites. Throws `svc_module_not_available`. */
export async function groupedCosts(
  ctx: Ctx,
  by: (typeof COST_GROUPS)[number],
  page: number,
  perPage: number,
  losing = false,
) {
  requireModule(ctx, 'cost-tracker');
  const today = dateOf(ctx.clock.now());
  const [all, currency] = await Promise.all([ctx.store.costs.ofFleet(), settingOf(ctx, 'cost-tracker', 'currency')]);
  const active = all.filter((cost) => cost.type === 'subscription' && cost.cost_status === 'active');
  // Without a site nothing is shared.
  const shared = active.filter(({ sites }) => sites > 0);
  const costs = shared.map((cost) => ({ cost, sites: cost.sites, ...share(cost, today) }));
  const withIncome = costs.some(({ cost }) => cost.kind === 'income');
  const { items, total } =
    by === 'month'
      ? monthly(costs, withIncome, today, page, perPage)
      : await owned(ctx, by, costs, withIncome, page, perPage, losing);
  return {
    costs: [],
    groups: items,
    currency,
    ...both(costs, withIncome),
    not_covered: active.length - shared.length,
    not_dated: costs.filter(({ cost }) => cost.last_renewal === null).length,
    total,
    page,
    per_page: perPage,
  };
}

/** Throws `svc_invalid_input` if what loses is asked for of neither clients nor sites. */
export function checkLosing(by: (typeof COST_GROUPS)[number] | undefined, losing: boolean): void {
  if (!losing || by === 'client' || by === 'site') return;
  throw new ServiceError('svc_invalid_input', 'losing is about clients or sites. Nothing was read.', {
    field: 'losing',
    advice: 'Send group_by client or site as well.',
  });
}

type Shared = ReturnType<typeof share> & { cost: Parameters<typeof share>[0]; sites: number };

/** Totals of costs, and of income where there is any in the fleet. */
function both(costs: readonly Shared[], withIncome: boolean) {
  const of = (kind: string) =>
    totals(costs.flatMap(({ cost, yearly, sites }) => (cost.kind === kind ? times(yearly, sites) : [])));
  const { total_monthly, total_yearly } = of('income');
  return { ...of('cost'), ...(withIncome ? { income_monthly: total_monthly, income_yearly: total_yearly } : {}) };
}

async function owned(
  ctx: Ctx,
  by: 'client' | 'site',
  costs: readonly Shared[],
  withIncome: boolean,
  page: number,
  perPage: number,
  losing: boolean,
) {
  const known = new Map(costs.map((one) => [one.cost.id, one]));
  const weightOf = ({ cost, yearly }: Shared) =>
    ((cost.kind === 'income' ? -1 : 1) * Number(yearly.n)) / Number(yearly.d);
  const weights = new Map(costs.map((one) => [one.cost.id, weightOf(one)]));
  const { items, total } = await ctx.store.costs.groups(by, weights, page, perPage, losing);
  const groups = items.map(({ id, name, held }) => {
    const pairs = JSON.parse(held) as [cost: number, sites: number][];
    const own = pairs.flatMap(([cost, sites]) => {
      const one = known.get(cost);
      return one === undefined ? [] : { ...one, sites };
    });
    return {
      value: name === null ? null : cleanLine(name, NAME),
      ...(id === null ? {} : { id }),
      ...both(own, withIncome),
      costs: pairs.length,
    };
  });
  return { items: groups, total };
}

/** What is due in each month, from today; each renewal counts in full. */
function monthly(costs: readonly Shared[], withIncome: boolean, today: string, page: number, perPage: number) {
  const first = `${today.slice(0, 7)}-01`;
  const months = Array.from({ length: MONTHS }, (_, index) => plusMonths(first, index).slice(0, 7));
  const end = plusMonths(first, MONTHS);
  const due = new Map<string, { amount: Fraction; income: Fraction; costs: Set<number> }>();
  for (const { cost, amount, sites } of costs) {
    for (const date of renewals(cost, today, end)) {
      const month = date.slice(0, 7);
      const known = due.get(month) ?? { amount: ZERO, income: ZERO, costs: new Set() };
      const member = cost.kind === 'income' ? 'income' : 'amount';
      due.set(month, {
        ...known,
        [member]: plus(known[member], times(amount, sites)),
        costs: known.costs.add(cost.id),
      });
    }
  }
  const groups = months.map((month) => {
    const { amount = ZERO, income = ZERO, costs: of } = due.get(month) ?? {};
    return {
      value: month,
      amount: rounded(amount),
      ...(withIncome ? { income: rounded(income) } : {}),
      costs: of?.size ?? 0,
    };
  });
  return { items: groups.slice((page - 1) * perPage, page * perPage), total: groups.length };
}

/** The days from today on, before `end`, on which a cost is due; none if its last renewal is not known. */
function renewals(cost: Shared['cost'], today: string, end: string): string[] {
  const days: string[] = [];
  let day = nextDue(cost, today);
  while (day !== null && day < end) {
    days.push(day);
    day = nextRenewal(cost.last_renewal ?? day, cost.renewal_type as RenewalType, dateOf(Date.parse(day) + DAY_MS));
  }
  return days;
}
