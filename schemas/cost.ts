/** Schemas of costs (operations §5.9): entries of the operations, and the record with its input rules. */

import { once } from '../src/runtime/once.js';
import { date, id, list, plainText, timestamp } from './common.js';
import { isCalendarDate } from './days.js';
import { hasLogin } from './url.js';
import { z } from './zod.js';

/** What is paid for sites, and what their clients pay. */
export const COST_KINDS = ['cost', 'income'] as const;
const COST_TYPES = ['subscription', 'lifetime'] as const;
const LICENSE_TYPES = ['single_site', 'multi_site'] as const;
const COST_STATUSES = ['active', 'canceled', 'onhold', 'expired', 'pending_cancelation'] as const;
const RENEWAL_TYPES = ['weekly', 'monthly', 'quarterly', 'yearly'] as const;

export type RenewalType = (typeof RENEWAL_TYPES)[number];

/** The share of one site in one cost. */
export const costEntry = once(() =>
  z.object({
    id: z.number().int(),
    name: z.string(),
    amount: z.number().describe('Share of the site, rounded to 2 decimals.'),
    frequency: z.enum([...RENEWAL_TYPES, 'lifetime']),
    next_due: date().nullable().describe('YYYY-MM-DD; null for one-time and inactive costs.'),
  }),
);

export const clientCostEntry = once(() => costEntry().extend({ site_id: z.number().int(), site_name: z.string() }));

/** Active subscriptions only. */
export const costTotals = once(() => ({
  total_monthly: z.number().describe('Active subscriptions per month.'),
  total_yearly: z.number().describe('Active subscriptions per year.'),
  income_monthly: z.number().optional().describe('Absent where no income is recorded.'),
  income_yearly: z.number().optional(),
}));

/** What the subscriptions of the fleet are grouped by. */
export const COST_GROUPS = ['client', 'site', 'month'] as const;

/**
 * Present with `group_by`: active subscriptions, those first that cost most beyond their income, or what is due in each
 * of 12 months.
 */
export const costGroups = once(() => ({
  groups: z
    .array(
      z.object({
        value: z.string().nullable().describe('null = sites without a client.'),
        id: z.number().int().optional(),
        total_monthly: z.number().optional(),
        total_yearly: z.number().optional(),
        income_monthly: z.number().optional(),
        income_yearly: z.number().optional(),
        amount: z.number().optional().describe('Due in this month.'),
        income: z.number().optional().describe('Due in this month.'),
        costs: z.number().int().describe('Records, of both kinds.'),
      }),
    )
    .optional(),
  currency: z.string().optional(),
  total_monthly: z.number().optional(),
  total_yearly: z.number().optional(),
  income_monthly: z.number().optional().describe('Absent where no income is recorded.'),
  income_yearly: z.number().optional(),
  not_covered: z.number().int().optional().describe('Subscriptions that cover no site, left out.'),
  not_dated: z.number().int().optional().describe('Subscriptions without a known renewal.'),
}));

const PRICE = /^\d{1,12}(?:\.\d{1,8})?$/;

/** Decimal text; a JSON number is converted by its shortest decimal form, never by binary arithmetic. */
export const price = once(() =>
  z.preprocess(
    (value) => (typeof value === 'number' ? plain(value) : value),
    z
      .string()
      .trim()
      .regex(PRICE, 'must be a decimal from 0 with at most 12 digits before and 8 after the point, such as 12.50'),
  ),
);

/** Below a millionth JavaScript writes 5e-7, which is not decimal text; it still has its 8 places. */
function plain(value: number): string {
  const text = value.toFixed(8);
  return value > 0 && value < 1e-6 && Number(text) === value ? text : String(value);
}

/** An existing calendar date. */
export const calendarDate = once(() =>
  z.string().trim().refine(isCalendarDate, 'must be a real date in the form YYYY-MM-DD'),
);

const targets = (what: string) => list(id()).optional().describe(`Ids of covered ${what}; replaces the current ones.`);

const costFields = once(() => ({
  kind: z.enum(COST_KINDS).describe('income: what comes in for the sites, and no cost of theirs.'),
  name: plainText(255).describe('What is paid for.'),
  url: z
    .string()
    .trim()
    .max(2048)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .refine((url) => !hasLogin(url), 'must not contain a login')
    .describe('Where it is managed.'),
  type: z.enum(COST_TYPES).describe('subscription renews, lifetime is paid once.'),
  product_type: plainText(100).describe('Slug of the product type.'),
  license_type: z
    .enum(LICENSE_TYPES)
    .describe('single_site: the price applies to each covered site; multi_site: one price for all of them.'),
  cost_status: z.enum(COST_STATUSES).describe('Only active costs count in totals.'),
  payment_method: plainText(100).describe('Slug of the payment method.'),
  price: price().describe('Decimal with at most 8 places.'),
  renewal_type: z.enum(RENEWAL_TYPES).nullable().describe('How often a subscription renews.'),
  last_renewal: calendarDate().nullable().describe('Date of the last renewal, YYYY-MM-DD.'),
  note: plainText(65_535).describe('Free text.'),
}));

const coverage = once(() => ({ sites: targets('sites'), groups: targets('tags'), clients: targets('clients') }));

/** A new cost. Without further fields, it is an active subscription whose price applies to each covered site. */
export const newCost = once(() => {
  const fields = costFields();
  return z
    .object({
      name: fields.name,
      price: fields.price,
      kind: fields.kind.default('cost'),
      url: fields.url.default(''),
      type: fields.type.default('subscription'),
      product_type: fields.product_type.default(''),
      license_type: fields.license_type.default('single_site'),
      cost_status: fields.cost_status.default('active'),
      payment_method: fields.payment_method.default(''),
      renewal_type: fields.renewal_type.default(null),
      last_renewal: fields.last_renewal.default(null),
      note: fields.note.default(''),
      ...coverage(),
    })
    .strict();
});

/** Only the given fields change. */
export const costChange = once(() =>
  z
    .object({ ...costFields(), ...coverage() })
    .partial()
    .strict(),
);

export const costRecord = once(() =>
  z.object({
    id: z.number().int(),
    ...costFields(),
    price: z.string().describe('Decimal text, exact.'),
    next_renewal: date().nullable(),
    sites: z.array(z.number().int()),
    groups: z.array(z.number().int()),
    clients: z.array(z.number().int()),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
);

/** Names of what a cost covers, in the order of the ids. */
export const costNames = once(() => ({
  site_names: z.array(z.string()).describe('The first 5.'),
  group_names: z.array(z.string()).describe('The first 5.'),
  client_names: z.array(z.string()).describe('The first 5.'),
}));
