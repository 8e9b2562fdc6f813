/** Runs of updates, newest first: who updated what on how many sites, and how it went. */

import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { SelectField } from '../parts/field.js';
import { History } from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { number, Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { RunState, titleOf } from './run.js';
import { runAddress } from './run-address.js';
import type { RunEntry } from './run-states.js';
import { UpdateTabs } from './update-tabs.js';

const PER_PAGE = 30;
const FILTERS = ['running', 'failed', 'rolled_back', 'unknown'] as const;

export function Runs() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const state = FILTERS.find((one) => one === query.state);
  const asked = { ...(state === undefined ? {} : { state }), page, per_page: PER_PAGE };
  const runs = useLoad(
    `runs:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/runs', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['updates', 'job'], 'runs:', 3000);
  return (
    <Page title={t.runs.all} about={runs.data && t.runs.count(number(runs.data.total))}>
      <UpdateTabs at="runs" />
      <search class="filters">
        <SelectField
          hidden
          label={t.inventory.state}
          value={state ?? ''}
          onChange={(next) => change({ state: next, page: undefined })}
          options={[['', t.runs.any], ...FILTERS.map((one) => [one, t.runs.filter[one]] as const)]}
        />
      </search>
      <Loaded of={runs} rows={8}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty icon={History} title={state === undefined ? t.runs.none : t.sites.nothingFits}>
              {state === undefined && <p>{t.runs.noneText}</p>}
            </Empty>
          ) : (
            <Table
              heads={[t.runs.run, t.inventory.state, t.runs.outcome, t.jobs.by, t.runs.started]}
              pages={{ page, perPage: PER_PAGE, total, go: pageIn(change) }}
            >
              {data.map((run) => (
                <tr key={run.run_id}>
                  <th scope="row">
                    <a href={runAddress(run.run_id)}>{titleOf(run)}</a>
                  </th>
                  <td data-label={t.inventory.state}>
                    <RunState run={run} />
                  </td>
                  <td class="wraps" data-label={t.runs.outcome}>
                    {outcomeOf(run)}
                  </td>
                  <td data-label={t.jobs.by}>{t.who(run.by)}</td>
                  <td data-label={t.runs.started}>
                    <Time iso={run.started_at} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The numbers in words: `12 updated, 1 rolled back`. */
function outcomeOf({ counts }: RunEntry): string {
  const shown = (['kept', 'rolled_back', 'failed', 'skipped', 'unknown'] as const).flatMap((state) => {
    const count = counts[state] ?? 0;
    return count === 0 ? [] : [`${number(count)} ${t.runs.state[state].toLowerCase()}`];
  });
  return shown.length === 0 ? '–' : shown.join(', ');
}
