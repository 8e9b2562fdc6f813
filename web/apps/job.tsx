/** A job inside an assistant: its progress, polled until it has ended. */

import { Badge, type Tone } from '../parts/badge.js';
import { CircleCheck, CircleDashed, LoaderCircle, OctagonX } from '../parts/icons.js';
import { Progress } from '../parts/progress.js';
import { Answer, outputOf, Press, start, type ViewProps } from './frame.js';
import { usePolled } from './polled.js';
import { say } from './texts.js';

interface Job {
  job_id: string;
  type: string;
  status: 'queued' | 'processing' | 'completed' | 'failed';
  processed: number;
  total: number;
  succeeded: number;
  failed: number;
  errors: { site_id: number; message: string }[];
  items?: Record<string, unknown>[];
  items_total?: number;
}

const TOOL = 'svc-get-batch-job-status-v1';
/** Polling interval of a running job. */
const EVERY_MS = 3000;
const ERRORS = 8;

const SIGNS = {
  queued: ['idle', CircleDashed],
  processing: ['busy', LoaderCircle],
  completed: ['good', CircleCheck],
  failed: ['bad', OctagonX],
} as const satisfies Record<Job['status'], readonly [Tone, unknown]>;

function View(props: ViewProps<Job>) {
  return <Followed key={props.answer.job_id} {...props} />;
}

function Followed({ answer, input, host }: ViewProps<Job>) {
  const { told, problem, look } = usePolled(
    host,
    answer.job_id,
    async () => (await outputOf(host, TOOL, input)) as unknown as Job,
    ({ status }) => (status === 'queued' || status === 'processing' ? EVERY_MS : null),
    answer,
    true,
  );
  const job = told ?? answer;
  const [tone, icon] = SIGNS[job.status];
  const { items = [], items_total: total = items.length } = job;
  return (
    <main class="app">
      <header>
        <h1>{say.job.title(job.type)}</h1>
        <Badge tone={tone} icon={icon}>
          {say.job[job.status]}
        </Badge>
        {host.canCall && <Press onPress={async () => look()}>{say.refresh}</Press>}
      </header>
      <Progress done={job.processed} total={job.total} failed={job.failed} label={say.job.title(job.type)} />
      <p class="figures">
        <span>
          <b>{job.succeeded}</b> {say.job.succeeded}
        </span>
        <span>
          <b>{job.failed}</b> {say.job.failures}
        </span>
      </p>
      {job.errors.length > 0 && (
        <section class="card">
          <h2>{say.job.failures}</h2>
          <ul>
            {job.errors.slice(0, ERRORS).map(({ site_id, message }) => (
              <li key={`${site_id} ${message}`}>
                <b>{say.job.site(site_id)}</b> {message}
              </li>
            ))}
          </ul>
          {job.errors.length > ERRORS && <p class="muted">{say.more(ERRORS, job.errors.length)}</p>}
        </section>
      )}
      {items.length > 0 && (
        <section class="card">
          <h2>{say.job.items}</h2>
          <Answer result={{ structuredContent: { items, total } }} />
        </section>
      )}
      {problem !== '' && <p class="problem">{problem}</p>}
      {!host.canCall && <p class="muted">{say.noCalls}</p>}
    </main>
  );
}

start<Job>({
  name: 'sitefleet-job',
  tool: TOOL,
  read: (output) => (typeof output.job_id === 'string' ? (output as unknown as Job) : undefined),
  View,
});
