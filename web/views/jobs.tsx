/** Jobs: running and past ones, item by item, and cancelling one. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { JobState } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { CircleStop, ListChecks } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Progress } from '../parts/progress.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { addressOf, useJobEvents, withEvent } from './job-lines.js';
import { runAddress } from './run-address.js';
import { isTool, ToolJob } from './tool-job.js';

const PER_PAGE = 20;
const ITEMS = 50;

export function Jobs() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const close = () => change({ id: undefined, tool: undefined });
  const events = useJobEvents();
  const jobs = useLoad(
    `jobs:list:${page}`,
    (signal) => answer(api.GET('/jobs', { params: { query: { page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  return (
    <Page title={t.nav.jobs}>
      {query.id !== undefined &&
        (isTool(query.tool) ? (
          <ToolJob id={query.id} tool={query.tool} key={query.id} close={close} />
        ) : (
          <JobDetail id={query.id} key={query.id} close={close} />
        ))}
      <Loaded of={jobs}>
        {({ data, total }) =>
          total === 0 ? (
            <Empty icon={ListChecks} title={t.jobs.none}>
              <p>{t.jobs.noneText}</p>
            </Empty>
          ) : (
            <Table
              heads={[t.jobs.what, t.inventory.state, t.jobs.progress, t.jobs.by, t.jobs.begun]}
              pages={{ page, perPage: PER_PAGE, total, go: pageIn(change) }}
            >
              {data.map((one) => {
                const job = withEvent(one, events.get(one.job_id));
                return (
                  <tr key={job.job_id} class={job.job_id === query.id ? 'on' : ''}>
                    <th scope="row">
                      <a href={addressOf(job)}>{t.jobs.type[job.type]}</a>
                    </th>
                    <td data-label={t.inventory.state}>
                      <JobState status={job.status} failed={job.failed} />
                    </td>
                    <td data-label={t.jobs.progress}>
                      <Progress
                        done={job.processed}
                        failed={job.failed}
                        total={job.total}
                        label={t.jobs.type[job.type]}
                      />
                    </td>
                    <td data-label={t.jobs.by}>{job.by === null ? t.jobs.itself : t.who(job.by)}</td>
                    <td data-label={t.jobs.begun}>
                      <Time iso={job.queued_at} />
                    </td>
                  </tr>
                );
              })}
            </Table>
          )
        }
      </Loaded>
    </Page>
  );
}

function JobDetail({ id, close }: { id: string; close: () => void }) {
  const write = useMayWrite();
  const [page, setPage] = useState(1);
  const [asking, setAsking] = useState(false);
  const events = useJobEvents();
  const event = events.get(id);
  // The key contains the state of the job, so that the items are reloaded as it progresses.
  const job = useLoad(
    `jobs:one:${id}:${page}:${event === undefined ? '' : `${event.status} ${event.done}`}`,
    (signal) =>
      answer(api.GET('/jobs/{job_id}', { params: { path: { job_id: id }, query: { page, per_page: ITEMS } }, signal })),
    { keepShown: true },
  );
  const cancel = async () => {
    await trying(
      async () => (await answer(api.POST('/jobs/{job_id}/cancel', { params: { path: { job_id: id } } }))).message,
    );
    refresh('jobs:', 'now:', 'running');
  };
  return (
    <Card
      title={job.data === undefined ? t.loading : t.jobs.type[job.data.type]}
      actions={
        <Button small onClick={close}>
          {t.close}
        </Button>
      }
    >
      <Loaded of={job}>
        {(found) => {
          const {
            status,
            processed,
            failed,
            total,
            items,
            items_total,
            errors,
            started_at,
            completed_at,
            in_progress,
            job_error_message,
            run_id,
          } = withEvent({ ...found, job_id: id }, event);
          const open = status === 'queued' || status === 'processing';
          return (
            <>
              <p class="under">
                <JobState status={status} failed={failed} />
                <span class="muted">
                  <Time iso={completed_at ?? started_at} otherwise={t.jobs.notBegun} />
                </span>
                {run_id !== undefined && <a href={runAddress(run_id)}>{t.runs.open}</a>}
              </p>
              <Progress done={processed} failed={failed} total={total} label={t.jobs.type[found.type]} />
              {open && in_progress !== undefined && (
                <p class="muted">{t.jobs.underWay(in_progress.items_done, in_progress.items_total)}</p>
              )}
              {job_error_message !== undefined && <p class="problem">{job_error_message}</p>}
              {write && open && (
                <div class="row">
                  <Button small kind="danger" icon={CircleStop} onClick={() => setAsking(true)}>
                    {t.jobs.cancel}
                  </Button>
                </div>
              )}
              {errors.length > 0 && (
                <details open={errors.length <= 10}>
                  <summary>{t.jobs.errors(errors.length)}</summary>
                  <ul class="log">
                    {errors.map(({ site_id, code, message }) => (
                      <li key={`${site_id} ${code}`}>
                        <span class="what">
                          {site_id === 0 ? t.jobs.whole : <a href={`/sites/${site_id}`}>{t.site.number(site_id)}</a>}
                        </span>
                        <span class="problem">{message}</span>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
              {(items ?? []).length > 0 && (
                <>
                  <ul class="log">
                    {(items ?? []).map((item, index) => (
                      <li key={`${item.site_id} ${item.slug ?? ''} ${index}`}>
                        <span class="what">
                          <a href={`/sites/${item.site_id}`}>{t.site.number(item.site_id)}</a>{' '}
                          {item.name !== undefined &&
                            t.now.change(item.name, item.old_version ?? '', item.new_version ?? '')}
                          {item.reachable !== undefined &&
                            (item.reachable ? t.now.isUp : t.now.isDown(item.http_status ?? 0))}
                        </span>
                        {item.message !== undefined && <span class="problem">{item.message}</span>}
                      </li>
                    ))}
                  </ul>
                  <Pager page={page} perPage={ITEMS} total={items_total ?? 0} go={setPage} />
                </>
              )}
            </>
          );
        }}
      </Loaded>
      {asking && (
        <Confirm
          title={t.jobs.cancelTitle}
          text={t.jobs.cancelText}
          word={t.jobs.cancel}
          icon={CircleStop}
          leave={t.jobs.letRun}
          onConfirm={cancel}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  );
}
