/** One run of updates, live and for 180 days: what each site and item did, worst first, with the evidence and the way back. */

import { useEffect } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useStore } from '../api/store.js';
import { Badge } from '../parts/badge.js';
import { Button, LinkButton } from '../parts/button.js';
import { LoaderCircle, Printer, SearchX } from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Progress } from '../parts/progress.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded, Loading } from '../parts/states.js';
import { isSuspect } from '../parts/suspect.js';
import { number, span, Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { Items } from './run-items.js';
import { Matrix } from './run-matrix.js';
import { Proof } from './run-proof.js';
import { Retry } from './run-retry.js';
import {
  type RunItem as Item,
  nameOf,
  ORDER,
  type RunAnswer,
  type RunEntry,
  STATES,
  type State,
} from './run-states.js';
import { Stop } from './run-stop.js';
import { starting } from './starting-run.js';

/** Polling interval while a run is in progress: its steps are stored before they are taken. */
const WATCH_MS = 1000;
const PER_PAGE = 200;

/** The matching state of the address. */
const stateOf = (text: string | undefined) => ORDER.find((state) => state === text);

export function Run() {
  const { params } = useRoute();
  const [query, change] = useQuery();
  const id = params.id ?? '';
  const page = pageOf(query);
  const state = stateOf(query.state);
  const run = useLoad(
    `run:${id}:${state ?? ''}:${page}`,
    (signal) =>
      answer(
        api.GET('/runs/{run_id}', {
          params: {
            path: { run_id: id },
            query: { ...(state === undefined ? {} : { state: [state] }), page, per_page: PER_PAGE },
          },
          signal,
        }),
      ),
    { keepShown: true },
  );
  // A run that was just asked for is not known at once.
  const awaited = useStore(starting).has(id) && run.data === undefined;
  const running = awaited || run.data?.run.state === 'running';
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => refresh(`run:${id}:`), WATCH_MS);
    return () => clearInterval(timer);
  }, [running, id]);
  if (awaited)
    return (
      <Page title={t.runs.starting}>
        <Loading rows={8} />
      </Page>
    );
  if (run.error?.status === 404)
    return (
      <Page title={t.runs.missing}>
        <Empty icon={SearchX} title={t.runs.missing}>
          <p>{t.runs.missingText}</p>
          <LinkButton href="/runs">{t.runs.all}</LinkButton>
        </Empty>
      </Page>
    );
  return (
    <Page
      title={run.data ? titleOf(run.data.run, run.data.data) : t.loading}
      about={run.data && <About run={run.data.run} />}
      actions={
        run.data &&
        (running ? (
          <Stop id={id} />
        ) : (
          <>
            {countOf(run.data.run, 'failed') > 0 && <Retry id={id} />}
            <Button icon={Printer} onClick={() => print()}>
              {t.runs.print}
            </Button>
          </>
        ))
      }
    >
      <Loaded of={run} rows={8}>
        {({ run: entry, result, data, total }) => (
          <>
            <p class="headline" role="status" aria-busy={running}>
              {running ? t.runs.through(number(doneOf(entry)), number(totalOf(entry))) : headlineOf(entry, result)}
            </p>
            <Counts run={entry} chosen={state} choose={(next) => change({ state: next, page: undefined })} />
            {running && <Progress done={doneOf(entry)} failed={0} total={totalOf(entry)} label={titleOf(entry)} />}
            <Matrix items={data} />
            {(data.length > 0 || !running) && <Items items={data} />}
            <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            {!running && <Proof id={id} names={namesOf(data)} shown={troubled(data)} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** What it came to, in one sentence. */
function headlineOf(run: RunEntry, { kept_sites, suspects, broke, worst }: RunAnswer['result']): string {
  return t.runs.headline(
    countOf(run, 'kept'),
    kept_sites,
    broke,
    worst && { site: worst.site_name ?? t.runs.removedSite, time: span(worst.restored_after_ms) },
    countOf(run, 'failed') + countOf(run, 'unknown'),
    suspects,
  );
}

function namesOf(items: readonly Item[]): ReadonlyMap<number, string> {
  return new Map(
    items.flatMap(({ site_id, site_name }) => (site_name === null ? [] : [[site_id, site_name] as const])),
  );
}

/** Sites whose pictures are shown at once: the first two on which something did not stay, or may be a problem. */
function troubled(items: readonly Item[]): ReadonlySet<number> {
  const sites = items.filter((item) => item.state === 'rolled_back' || item.state === 'failed' || isSuspect(item));
  return new Set([...new Set(sites.map(({ site_id }) => site_id))].slice(0, 2));
}

/** What was asked for. On how many sites there was something to do, the numbers tell. */
export function titleOf({ types, specific_items }: RunEntry, items: readonly Item[] = []): string {
  const name = (slug: string) => nameOf(items.find((item) => item.slug === slug) ?? { name: '', slug });
  const what =
    specific_items.length > 0
      ? specific_items.slice(0, 3).map(name).join(', ') + (specific_items.length > 3 ? ' …' : '')
      : types.length > 0
        ? t.list(types.map((type) => t.runs.kinds[type] ?? type))
        : t.runs.everything;
  return t.runs.title(what);
}

const countOf = ({ counts }: RunEntry, state: State) => counts[state] ?? 0;
const totalOf = (run: RunEntry) => ORDER.reduce((sum, state) => sum + countOf(run, state), run.waiting_sites ?? 0);
const doneOf = (run: RunEntry) =>
  (['kept', 'rolled_back', 'failed', 'skipped', 'unknown'] as const).reduce(
    (sum, state) => sum + countOf(run, state),
    0,
  );

export function RunState({ run }: { run: RunEntry }) {
  if (run.state === 'running')
    return (
      <Badge tone="busy" icon={LoaderCircle}>
        {t.runs.running}
      </Badge>
    );
  const worst = ORDER.find((state) => state !== 'skipped' && countOf(run, state) > 0);
  const shown = worst ?? 'skipped';
  return (
    <Badge {...STATES[shown]}>
      {worst === undefined ? t.runs.nothing : (t.runs.ended[shown] ?? t.runs.state[shown])}
    </Badge>
  );
}

function About({ run }: { run: RunEntry }) {
  return (
    <span class="under">
      <RunState run={run} />
      <span>
        {t.runs.by(run.by, run.via)}, <Time iso={run.started_at} />
      </span>
      {run.job_id !== null && <a href={`/jobs?id=${encodeURIComponent(run.job_id)}`}>{t.runs.job}</a>}
    </span>
  );
}

/** The number of items in each state; each narrows the page to it. */
function Counts({
  run,
  chosen,
  choose,
}: {
  run: RunEntry;
  chosen: State | undefined;
  choose: (state: State | undefined) => void;
}) {
  const waiting = run.waiting_sites ?? 0;
  return (
    <ul class="tallies">
      {ORDER.filter((state) => countOf(run, state) > 0).map((state) => (
        <li key={state}>
          <button
            type="button"
            class={`tally ${STATES[state].tone}`}
            aria-pressed={state === chosen}
            onClick={() => choose(state === chosen ? undefined : state)}
          >
            <strong>{number(countOf(run, state))}</strong>
            <span>{t.runs.state[state]}</span>
          </button>
        </li>
      ))}
      {waiting > 0 && (
        <li>
          <span class="tally idle">
            <strong>{number(waiting)}</strong>
            <span>{t.runs.waiting}</span>
          </span>
        </li>
      )}
    </ul>
  );
}
