/** The plan of updates: sites by items, coloured by risk, with a tick for each, and what all that is ticked comes to. */

import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { Button } from '../parts/button.js';
import { CircleCheckBig } from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { t } from '../texts/texts.js';
import { GuidanceCard } from './guidance.js';
import { Choices, filtersOf, narrowed } from './plan-filters.js';
import { Legend, Matrix } from './plan-matrix.js';
import { Total } from './plan-total.js';
import { UpdateTabs } from './update-tabs.js';

/** The window of the matrix. */
const SITES = 50;
const ITEMS = 25;

export function UpdatePlan() {
  const [query, change] = useQuery();
  const filters = filtersOf(query);
  const page = pageOf(query);
  const itemPage = pageOf({ page: query.items ?? '' });
  const asked = {
    type: [...filters.types],
    ...narrowed(filters),
    page,
    per_page: SITES,
    item_page: itemPage,
    items_per_page: ITEMS,
  };
  const plan = useLoad(
    `updates:plan:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/fleet/updates/plan', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['updates', 'site', 'alert'], 'updates:plan:', 3000);
  const filter = (members: Record<string, string | undefined>) =>
    change({ ...members, page: undefined, items: undefined });
  const go = (name: 'page' | 'items') => (to: number) => change({ [name]: to === 1 ? undefined : String(to) });
  return (
    <Page title={t.plan.title} about={t.plan.about}>
      <UpdateTabs at="plan" />
      <GuidanceCard ifAny />
      <Choices query={query} filters={filters} filter={filter} />
      <Loaded of={plan} rows={8}>
        {(data) =>
          data.total === 0 ? (
            <Empty icon={CircleCheckBig} title={Object.keys(query).length > 0 ? t.updates.noneFits : t.plan.none}>
              {Object.keys(query).length > 0 && (
                <Button onClick={() => change(Object.fromEntries(Object.keys(query).map((name) => [name, undefined])))}>
                  {t.sites.clearFilters}
                </Button>
              )}
            </Empty>
          ) : (
            <>
              <Total plan={data} filters={filters} stale={plan.loading} />
              <Legend />
              <Matrix plan={data} />
              <Pager page={page} perPage={SITES} total={data.total} go={go('page')} of={t.nav.sites} />
              <Pager page={itemPage} perPage={ITEMS} total={data.total_items} go={go('items')} of={t.plan.items} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
