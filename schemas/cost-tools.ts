/** Schemas of costs as assistants write them: the rules of the records, with shorter descriptions. */

import { once } from '../src/runtime/once.js';
import { id } from './common.js';
import { costChange } from './cost.js';

export const costId = () => id().describe('From list-costs-v1.');

export const costWrite = once(() => {
  const cost = costChange().required().shape;
  return {
    name: cost.name.describe('What is paid for.'),
    kind: cost.kind.describe('income = what clients pay.'),
    price: cost.price.describe('Decimal, such as 12.50.'),
    type: cost.type.describe('lifetime is paid once.'),
    renewal_type: cost.renewal_type.describe('How often a subscription renews.'),
    license_type: cost.license_type.describe('single_site: the price is per covered site; multi_site: for all.'),
    cost_status: cost.cost_status.describe('Only active ones count in totals.'),
    last_renewal: cost.last_renewal.describe('YYYY-MM-DD.'),
    sites: cost.sites.describe('Covered sites; replaces.'),
    groups: cost.groups.describe('Covered tags; replaces.'),
    clients: cost.clients.describe('Covered clients; replaces.'),
    url: cost.url.describe('Where it is managed.'),
    note: cost.note.describe('Free text.'),
  };
});
