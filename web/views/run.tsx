/** One run of updates, live and for 180 days: what each site and item did, worst first, with the evidence and the way back. */

import type { IconNode } from 'lucide';
import {
  CheckCircle2,
  CircleDashed,
  CircleHelp,
  CircleMinus,
  LoaderCircle,
  OctagonX,
  Printer,
  RotateCw,
  SearchX,
  ShieldCheck,
  Undo2,
} from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { useStore } from '../api/store.js';
import { Badge, Protection, type Tone } from '../parts/badge.js';
import { Button, LinkButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Icon } from '../parts/icon.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Progress } from '../parts/progress.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded, Loading } from '../parts/states.js';
import { number, span, Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { RollBack } from './roll-back.js';
import { Proof } from './run-proof.js';
import { starting, startRun } from './starting-run.js';

type Answer = paths['/runs/{run_id}']['get']['responses'][200]['content']['application/json'];
export type RunEntry = Answer['run'];
type Item = Answer['data'][number];
type State = Item['state'];

/** Polling interval while a run is in progress: its steps are stored before they are taken. */
const WATCH_MS = 1000;
const PER_PAGE = 200;
/** Columns of the matrix: it need not be scrolled. */
const MOST_COLUMNS = 8;

/** What needs a person comes first. */
const STATES: Readonly<Record<State, { tone: Tone; icon: IconNode }>> = {
  failed: { tone: 'bad', icon: OctagonX },
  unknown: { tone: 'bad', icon: CircleHelp },
  rolled_back: { tone: 'warn', icon: Undo2 },
  skipped: { tone: 'idle', icon: CircleMinus },
  updating: { tone: 'busy', icon: LoaderCircle },
  checking: { tone: 'busy', icon: LoaderCircle },
  queued: { tone: 'idle', icon: CircleDashed },
  kept: { tone: 'good', icon: CheckCircle2 },
};
const ORDER = Object.keys(STATES) as State[];

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
      title={run.data ? titleOf(run.data.run) : t.loading}
      about={run.data && <About run={run.data.run} />}
      actions={
        run.data &&
        !running && (
          <>
            {countOf(run.data.run, 'failed') > 0 && <Retry id={id} />}
            <Button icon={Printer} onClick={() => print()}>
              {t.runs.print}
            </Button>
          </>
        )
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
function headlineOf(run: RunEntry, { kept_sites, broke, worst }: Answer['result']): string {
  return t.runs.headline(
    countOf(run, 'kept'),
    kept_sites,
    broke,
    worst && { site: worst.site_name ?? t.runs.removedSite, time: span(worst.restored_after_ms) },
    countOf(run, 'failed') + countOf(run, 'unknown'),
  );
}

function namesOf(items: readonly Item[]): ReadonlyMap<number, string> {
  return new Map(
    items.flatMap(({ site_id, site_name }) => (site_name === null ? [] : [[site_id, site_name] as const])),
  );
}

/** Sites whose pictures are shown at once: the first two on which something did not stay. */
function troubled(items: readonly Item[]): ReadonlySet<number> {
  const sites = items.filter(({ state }) => state === 'rolled_back' || state === 'failed');
  return new Set([...new Set(sites.map(({ site_id }) => site_id))].slice(0, 2));
}

/** What was asked for. On how many sites there was something to do, the numbers tell. */
export function titleOf({ types, specific_items }: RunEntry): string {
  const what =
    specific_items.length > 0
      ? specific_items.slice(0, 3).map(bareSlug).join(', ') + (specific_items.length > 3 ? ' …' : '')
      : types.length > 0
        ? types.join(', ')
        : t.runs.everything;
  return t.runs.title(what);
}

/** `shop/shop.php` → `shop`. */
const bareSlug = (slug: string) => slug.split('/')[0]?.replace(/\.php$/, '') ?? slug;

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

/** Applies what failed once more, after a preview: what broke its site or was rolled back is left alone. */
function Retry({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const write = useMayWrite();
  const { route, url } = useLocation();
  const at = { params: { path: { run_id: id } } };
  const plan = useLoad(open ? `plan:retry:${id}` : null, (signal) =>
    answer(api.POST('/runs/{run_id}/retry', { ...at, body: { dry_run: true }, signal })),
  );
  const planned = plan.data?.would_update ?? [];
  const retry = () => {
    setOpen(false);
    startRun((as) => answer(api.POST('/runs/{run_id}/retry', { ...at, body: { as } })), { route, back: url });
  };
  if (!write) return null;
  return (
    <>
      <Button icon={RotateCw} onClick={() => setOpen(true)}>
        {t.runs.retry}
      </Button>
      {open && (
        <Dialog
          wide
          title={t.runs.retry}
          onClose={() => setOpen(false)}
          confirm={
            <Button kind="main" icon={RotateCw} disabled={planned.length === 0} onClick={retry}>
              {t.sites.updateCount(number(planned.length))}
            </Button>
          }
        >
          <Loaded of={plan}>
            {() => (
              <>
                <p>{planned.length === 0 ? t.runs.nothingToRetry : t.runs.retryText}</p>
                <ul class="lines">
                  {planned.map(({ site_id, site_name, name, slug, current_version, new_version }) => (
                    <li key={`${site_id} ${slug}`}>
                      <strong>{site_name}</strong>: {t.now.change(name, current_version, new_version)}
                    </li>
                  ))}
                </ul>
              </>
            )}
          </Loaded>
        </Dialog>
      )}
    </>
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

/** How an item stands, in the cell of its site: a break is red, and amber once the site is restored. */
function signOf(item: Item): { tone: Tone; icon: IconNode; word: string } {
  const { state, code, new_version, restored_after_ms } = item;
  if (item.restoring === true) return { tone: 'bad', icon: OctagonX, word: t.runs.broken };
  if (state === 'kept') return { ...STATES.kept, word: new_version };
  if (state === 'rolled_back' && restored_after_ms !== undefined)
    return { ...STATES.rolled_back, word: t.runs.restored(span(restored_after_ms)) };
  if (state === 'skipped' && code === 'svc_version_quarantined')
    return { tone: 'idle', icon: ShieldCheck, word: t.runs.spared };
  return { ...STATES[state], word: t.runs.state[state] };
}

/** Sites by items: what happens where, at a glance. */
function Matrix({ items }: { items: readonly Item[] }) {
  const parts = items.filter(({ type }) => type !== 'site');
  const columns = new Map(parts.map((item) => [`${item.type} ${item.slug}`, nameOf(item)]));
  const sites = [...new Set(parts.map(({ site_id }) => site_id))];
  if (parts.length < 2) return null;
  if (columns.size > MOST_COLUMNS) return <Strips items={parts} sites={sites} />;
  const of = new Map(parts.map((item) => [`${item.site_id} ${item.type} ${item.slug}`, item]));
  return (
    <Card title={t.runs.glance}>
      <div class="scroll">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">{t.sites.column.name}</th>
              {[...columns].map(([key, name]) => (
                <th key={key} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sites.map((site) => (
              <tr key={site}>
                <th scope="row">
                  <SiteLink items={items} site={site} />
                </th>
                {[...columns.keys()].map((key) => {
                  const item = of.get(`${site} ${key}`);
                  return <td key={key}>{item === undefined ? <span class="muted">–</span> : <Cell item={item} />}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** The same with many items, of which each site has few: they stand one after the other, by name. */
function Strips({ items, sites }: { items: readonly Item[]; sites: readonly number[] }) {
  return (
    <Card title={t.runs.glance}>
      <ul class="strips">
        {sites.map((site) => (
          <li key={site}>
            <span>
              <SiteLink items={items} site={site} />
            </span>
            <span class="cells">
              {items
                .filter(({ site_id }) => site_id === site)
                .map((item) => (
                  <Cell key={`${item.type} ${item.slug}`} item={item} named />
                ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Cell({ item, named = false }: { item: Item; named?: boolean }) {
  // Seen while it was under way: then its break is shown, even if it was over between two looks.
  const watched = useRef(item.state !== 'rolled_back').current;
  const { tone, icon, word } = signOf(item);
  const { old_version: from, new_version: to } = item;
  const what = named ? t.now.change(nameOf(item), from, to) : t.updates.versions(from, to);
  const said = `${t.runs.state[item.state]}: ${what}`;
  return (
    <span class={`cell ${tone}${watched && item.state === 'rolled_back' ? ' flips' : ''}`} title={said}>
      <Icon of={icon} class={tone === 'busy' ? 'turning' : ''} />
      <span class="unseen">{said}</span>
      <span aria-hidden={word === to}>{named ? `${nameOf(item)}: ${word}` : word}</span>
    </span>
  );
}

const nameOf = ({ name, slug }: Pick<Item, 'name' | 'slug'>) => (name === '' || name === slug ? bareSlug(slug) : name);

/** By name; with the address, where names repeat. */
function SiteLink({ items, site, tab = '' }: { items: readonly Item[]; site: number; tab?: string }) {
  const own = items.find(({ site_id }) => site_id === site);
  const name = own?.site_name ?? t.site.number(site);
  const repeats = items.some(({ site_id, site_name }) => site_id !== site && site_name === name);
  return (
    <>
      <a href={`/sites/${site}${tab}`}>{name}</a>
      {repeats && own?.site_url != null && <span class="address">{t.address(own.site_url)}</span>}
    </>
  );
}

const GROUPS = [
  ['trouble', ['failed', 'unknown']],
  ['rolled_back', ['rolled_back']],
  ['busy', ['updating', 'checking', 'queued']],
  ['skipped', ['skipped']],
  ['kept', ['kept']],
] as const satisfies readonly (readonly [string, readonly State[]])[];

/** Item by item, what needs a person first. */
function Items({ items }: { items: readonly Item[] }) {
  if (items.length === 0) return <Card>{<p class="muted">{t.runs.nothing}</p>}</Card>;
  return (
    <>
      {GROUPS.map(([group, states]) => {
        const own = items.filter(({ state }) => states.some((one) => one === state));
        return (
          own.length > 0 && (
            <Card key={group} title={t.runs.groupOf(t.runs.group[group], number(own.length))}>
              <ul class="log run">
                {own.map((item) => (
                  <ItemLine key={`${item.site_id} ${item.type} ${item.slug}`} item={item} items={items} />
                ))}
              </ul>
            </Card>
          )
        );
      })}
    </>
  );
}

function ItemLine({ item, items }: { item: Item; items: readonly Item[] }) {
  const write = useMayWrite();
  const { tone, icon, word } = signOf(item);
  return (
    <li>
      <div class="what">
        <span class="top">
          <SiteLink items={items} site={item.site_id} tab="?tab=updates" />
          <strong>{nameOf(item)}</strong>
          <span class="versions">{t.updates.versions(item.old_version, item.new_version)}</span>
          <Badge tone={tone} icon={icon}>
            {item.state === 'kept' ? t.runs.state.kept : word}
          </Badge>
          {(item.type === 'plugin' || item.type === 'theme') && <Protection by={item.protection} />}
        </span>
        {item.message !== undefined && <span class={tone === 'bad' ? 'problem' : ''}>{item.message}</span>}
        {(item.evidence ?? [])
          .filter((sentence) => item.message?.includes(sentence) !== true)
          .map((sentence) => (
            <q key={sentence} class="seen">
              {sentence}
            </q>
          ))}
      </div>
      {write && item.can_roll_back && (item.type === 'plugin' || item.type === 'theme') && (
        <RollBack
          siteId={item.site_id}
          of={{ change_id: item.change_id }}
          name={nameOf(item)}
          version={item.old_version}
          from={item.new_version}
        />
      )}
    </li>
  );
}
