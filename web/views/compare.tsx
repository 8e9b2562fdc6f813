/** What differs between two to five sites; what is the same, or not known of all of them, is folded. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { GitCompare } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { listOf, useQuery } from '../parts/query.js';
import { SitePicker } from '../parts/site-picker.js';
import { Empty, Failed, Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';

/** Number of sites that can be compared at once. */
export const MOST_COMPARED = 5;
const PER_PAGE = 500;

/** The address of the comparison of these sites. */
export const compareAddress = (ids: readonly number[]) => `/compare?sites=${ids.join(',')}`;

function useComparison(ids: readonly number[], page: number, administrators: boolean) {
  const query = { site_ids_or_domains: [...ids], same: true, administrators, page, per_page: PER_PAGE };
  return useLoad(
    ids.length < 2 ? null : `compare:${[ids, page, administrators]}`,
    (signal) => answer(api.GET('/fleet/compare', { params: { query }, signal })).then(({ data }) => data),
    { keepShown: true },
  );
}
type Comparison = NonNullable<ReturnType<typeof useComparison>['data']>;
type Row = Comparison['rows'][number];

export function Compare() {
  const [query, change] = useQuery();
  const [page, setPage] = useState(1);
  const ids = [...new Set(listOf(query.sites).map(Number).filter(Number.isInteger))].slice(0, MOST_COMPARED);
  const stored = useComparison(ids, page, false);
  // Asked of the sites themselves, which takes longer: the rest is shown meanwhile.
  const asked = useComparison(ids, page, true);
  const answered = asked.data !== undefined && !asked.loading;
  return (
    <Page title={t.compare.title} about={t.compare.about}>
      <Card>
        <SitePicker
          label={t.compare.search}
          none={t.compare.none}
          chosen={ids}
          onChange={(next) => {
            setPage(1);
            change({ sites: next.join(',') }, true);
          }}
          most={MOST_COMPARED}
          focus={ids.length < 2}
        />
      </Card>
      {ids.length < 2 ? (
        <Empty icon={GitCompare} title={t.compare.atLeast} />
      ) : (
        <Loaded of={answered ? asked : stored} rows={10}>
          {(data) => (
            <>
              {asked.loading && (
                <p class="muted small" role="status">
                  {t.compare.asking}
                </p>
              )}
              {asked.error !== undefined && <Failed error={asked.error} retry={asked.reload} />}
              {data.errors.map(({ site_id, message }) => (
                <p key={site_id} class="note small">
                  {t.compare.notNamed(titleOf(data, site_id))} {message}
                </p>
              ))}
              <Differences of={data} />
              <Pager page={page} perPage={PER_PAGE} total={data.total} go={setPage} />
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}

/** The site's name, with its address where others have the same name. */
function titleOf({ sites }: Comparison, id: number): string {
  const site = sites.find((one) => one.id === id);
  if (site === undefined) return t.site.number(id);
  const repeats = sites.some((other) => other.id !== id && other.name === site.name);
  return repeats ? `${site.name} (${t.address(site.url)})` : site.name;
}

function Differences({ of }: { of: Comparison }) {
  const differ = of.rows.filter(({ difference }) => difference !== 'none');
  const same = of.rows.filter(({ difference, values }) => difference === 'none' && !values.includes(null));
  const unknown = of.rows.filter(({ difference, values }) => difference === 'none' && values.includes(null));
  return (
    <>
      {differ.length === 0 ? (
        <Card>
          <p>{t.compare.noDifference}</p>
        </Card>
      ) : (
        <Rows of={of} rows={differ} label={t.compare.different} />
      )}
      <Folded of={of} rows={unknown} title={t.compare.unknown(number(unknown.length))} />
      <Folded of={of} rows={same} title={t.compare.same(number(same.length))} />
    </>
  );
}

function Folded({ of, rows, title }: { of: Comparison; rows: readonly Row[]; title: string }) {
  if (rows.length === 0) return null;
  return (
    <details class="fold">
      <summary>{title}</summary>
      <Rows of={of} rows={rows} label={title} />
    </details>
  );
}

function Rows({ of, rows, label }: { of: Comparison; rows: readonly Row[]; label: string }) {
  const areas = [...new Set(rows.map(({ area }) => area))];
  return (
    <div class="scroll">
      <table class="list compared" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{t.compare.what}</th>
            {of.sites.map(({ id, name, url, last_sync }) => (
              <th key={id} scope="col">
                <a href={`/sites/${id}`}>{name}</a>
                <span class="address">{t.address(url)}</span>
                {last_sync === null && <span class="address">{t.compare.neverSynced}</span>}
              </th>
            ))}
          </tr>
        </thead>
        {areas.map((area) => (
          <tbody key={area}>
            <tr class="area">
              <th scope="rowgroup" colSpan={of.sites.length + 1}>
                {t.compare.area[area]}
              </th>
            </tr>
            {rows
              .filter((row) => row.area === area)
              .map(({ what, slug, values }) => (
                <tr key={`${what} ${slug}`} class={area}>
                  <th scope="row">{what}</th>
                  {of.sites.map(({ id }, index) => (
                    <td key={id} data-label={titleOf(of, id)}>
                      <Value of={values[index] ?? null} />
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Value({ of }: { of: string | null }) {
  const missing = of === null || of === 'not installed';
  return <span class={missing ? 'muted' : ''}>{of ?? t.unknown}</span>;
}
