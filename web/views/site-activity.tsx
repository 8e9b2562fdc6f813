/** The activity on a site: actions through this service and by users on the site itself. */

import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { SelectField } from '../parts/field.js';
import { History } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './site.js';

const PER_PAGE = 30;
const SOURCES = ['all', 'dashboard', 'wpadmin'] as const;

export function Activity({ site }: { site: SiteRecord }) {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const source = SOURCES.find((one) => one === query.source) ?? 'all';
  const log = useLoad(
    `site:${site.id}:activity:${source}:${page}`,
    (signal) =>
      answer(
        api.GET('/sites/{id_or_domain}/non-mainwp-changes', {
          params: { path: { id_or_domain: String(site.id) }, query: { source, page, per_page: PER_PAGE } },
          signal,
        }),
      ),
    { keepShown: true },
  );
  return (
    <Card
      title={t.site.tab.activity}
      actions={
        <SelectField
          hidden
          label={t.activity.source}
          value={source}
          onChange={(next) => change({ source: next === 'all' ? undefined : next, page: undefined })}
          options={SOURCES.map((one) => [one, t.activity.sources[one]] as const)}
        />
      }
    >
      <Loaded of={log} rows={6}>
        {({ data, total }) =>
          !Array.isArray(data) || data.length === 0 ? (
            <Empty icon={History} title={t.activity.none} />
          ) : (
            <>
              <ul class="log">
                {data.map((entry) => (
                  <li key={entry.log_id}>
                    <span class="what">{entry.description}</span>
                    <span class="muted">
                      {t.who(entry.user) || t.activity.unknownUser} ·{' '}
                      {t.activity.sources[entry.source === 'dashboard' ? 'dashboard' : 'wpadmin']} ·{' '}
                      <Time iso={entry.timestamp} />
                    </span>
                  </li>
                ))}
              </ul>
              <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
