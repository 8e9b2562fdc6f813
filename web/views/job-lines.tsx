/** Running and recent jobs, updated live. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { type JobEvent, useLive } from '../api/live.js';
import { refresh, useLoad } from '../api/load.js';
import { JobState } from '../parts/badge.js';
import { Card } from '../parts/page.js';
import { Progress } from '../parts/progress.js';
import { Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { isTool } from './tool-job.js';

const SHOWN = 5;

/** The latest event of each job. */
export function useJobEvents(): ReadonlyMap<string, JobEvent> {
  const [events, setEvents] = useState<ReadonlyMap<string, JobEvent>>(new Map());
  useLive('job', (event) => {
    if (!events.has(event.id)) refresh('now:jobs', 'jobs:');
    setEvents((before) => new Map(before).set(event.id, event));
  });
  return events;
}

interface Job {
  job_id: string;
  status: 'queued' | 'processing' | 'completed' | 'failed';
  processed: number;
  failed: number;
  total: number;
}

/** A job with the newer state of the job and its event. */
export function withEvent<T extends Job>(job: T, event: JobEvent | undefined): T {
  const over = job.status === 'completed' || job.status === 'failed';
  if (event === undefined || over || event.done < job.processed) return job;
  return { ...job, status: event.status, processed: event.done, failed: event.failed };
}

/**
 * The address of a job's view. Jobs of the tools are identified by their type as well: their ids look like those of
 * others.
 */
export function addressOf({ job_id, type }: { job_id: string; type: string }): string {
  return `/jobs?id=${encodeURIComponent(job_id)}${isTool(type) ? `&tool=${type}` : ''}`;
}

export function JobLines() {
  const events = useJobEvents();
  const jobs = useLoad('now:jobs', (signal) =>
    answer(api.GET('/jobs', { params: { query: { per_page: SHOWN } }, signal })),
  );
  return (
    <Card title={t.nav.jobs} actions={<a href="/jobs">{t.now.open}</a>}>
      <Loaded of={jobs}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="muted">{t.jobs.none}</p>
          ) : (
            <ul class="joblines">
              {data.map((job) => {
                const { job_id, type, status, processed, failed, total, completed_at } = withEvent(
                  job,
                  events.get(job.job_id),
                );
                const open = status === 'queued' || status === 'processing';
                return (
                  <li key={job_id}>
                    <a href={addressOf(job)}>{t.jobs.type[type]}</a>
                    {open ? (
                      <Progress done={processed} failed={failed} total={total} label={t.jobs.type[type]} />
                    ) : (
                      <span class="ended">
                        <JobState status={status} failed={failed} />
                        <span class="muted">
                          <Time iso={completed_at} />
                        </span>
                      </span>
                    )}
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
