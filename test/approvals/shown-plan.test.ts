/** Plans as they are shown to a person who approves: readable however much a change would do. */

import { expect, it } from 'vitest';
import type { Named } from '../../src/domain/approvals/extent.js';
import { shownPlan } from '../../src/domain/approvals/shown-plan.js';

const NOWHERE: Named = { sites: null };
const update = (at: number) => ({
  site_id: at,
  site_url: `https://shop-${at}.example/`,
  name: 'W'.repeat(100),
  slug: `${'w'.repeat(100)}/shop.php`,
});
const plan = (updates: number) => ({
  would_affect: { sites: updates },
  updates: Array.from({ length: updates }, (_, at) => update(at)),
});

it('is whole when it has as many updates as a preview lists', () => {
  expect(JSON.parse(shownPlan(NOWHERE, plan(200)))).toEqual(plan(200));
});

it('has the first of lists that are too long, says how many more there are, and keeps what it says of the whole', () => {
  const { updates, ...rest } = JSON.parse(shownPlan(NOWHERE, plan(1000)));
  expect(rest).toEqual({ would_affect: { sites: 1000 } });
  expect(updates.at(-1)).toBe(`… and ${1000 - (updates.length - 1)} more`);
  expect(updates.slice(0, -1)).toEqual(plan(updates.length - 1).updates);
  expect(updates.length).toBeGreaterThan(50);
});

it('is only its beginning when what is too long is no list', () => {
  const shown = JSON.parse(shownPlan(NOWHERE, { text: 'x'.repeat(100_000) }));
  expect(shown).toEqual({ characters: 100_011, begins: expect.stringMatching(/^\{"text":"x{900,}…$/) });
});

it('is the sites that the call names where there is no plan', () => {
  const sites = Array.from({ length: 30 }, (_, at) => ({
    id: at,
    url: `https://${at}.example/`,
    name: `Site ${at}`,
    notes: '',
  }));
  const shown = JSON.parse(shownPlan({ sites } as unknown as Named, undefined));
  expect(shown.total_sites).toBe(30);
  expect(shown.sites).toHaveLength(20);
  expect(shown.sites[3]).toEqual({ id: 3, url: 'https://3.example/', name: 'Site 3' });
  expect(JSON.parse(shownPlan(NOWHERE, undefined))).toEqual({});
});
