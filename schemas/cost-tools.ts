/** Schemas of costs as assistants write them: the rules of the records, with shorter descriptions. */

import { once } from '../src/core/once.js';
import { id } from './common.js';
import { costChange } from './cost.js';

export const costId = () => id().describe('From list-costs-v1.');

export const costWrite = once(() => {
  const {
    name,
    price,
    type,
    license_type,
    cost_status,
    renewal_type,
    last_renewal,
    sites,
    groups,
    clients,
    note,
    url,
  } = costChange().required().shape;
  return {
    name: name.describe('What is paid for.'),
    price: price.describe('Decimal, such as 12.50.'),
    type: type.describe('lifetime is paid once.'),
    renewal_type: renewal_type.describe('How often a subscription renews.'),
    license_type: license_type.describe('single_site: the price is per covered site; multi_site: for all.'),
    cost_status: cost_status.describe('Only active ones count in totals.'),
    last_renewal: last_renewal.describe('YYYY-MM-DD.'),
    sites: sites.describe('Ids of covered sites; replaces.'),
    groups: groups.describe('Ids of covered tags; replaces.'),
    clients: clients.describe('Ids of covered clients; replaces.'),
    url: url.describe('Where it is managed.'),
    note: note.describe('Free text.'),
  };
});
