/** One rollout: its waves with their sites, what it waits for, why it stopped, and the buttons that steer it. */

import { useEffect, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { Button, LinkButton } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { Icon } from '../parts/icon.js';
import { CircleCheck, Pause, Play, SearchX, Square } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Progress } from '../parts/progress.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import {
  clock,
  type Rollout as Entry,
  ITEM,
  type RolloutItem as Item,
  ORDER,
  WAVE,
  type Wave,
} from './rollout-states.js';
import { RolloutState } from './rollouts.js';
import { runAddress } from './run-address.js';
import { SiteLink, siteTitle } from './run-matrix.js';
import { bareSlug } from './run-states.js';
import { UndoChange } from './undo-change.js';

const PER_PAGE = 500;
const WATCH_MS = 2000;
const LOOK_MS = 15_000;

export function Rollout() {
  const { params } = useRoute();
  const [query, change] = useQuery();
  const id = params.id ?? '';
  const page = pageOf(query);
  const rollout = useLoad(
    `rollout:${id}:${page}`,
    (signal) =>
      answer(
        api.GET('/rollouts/{rollout_id}', {
          params: { path: { rollout_id: id }, query: { page, per_page: PER_PAGE } },
          signal,
        }),
      ),
    { keepShown: true },
  );
  const entry = rollout.data?.rollout;
  // Between its waves nothing moves for long.
  const every = entry === undefined || entry.next === '' ? null : atWork(entry) ? WATCH_MS : LOOK_MS;
  useEffect(() => {
    if (every === null) return;
    const timer = setInterval(() => refresh(`rollout:${id}:`), every);
    return () => clearInterval(timer);
  }, [every, id]);
  if (rollout.error?.status === 404)
    return (
      <Page title={t.rollouts.missing}>
        <Empty icon={SearchX} title={t.rollouts.missing}>
          <p>{t.runs.missingText}</p>
          <LinkButton href="/rollouts">{t.rollouts.all}</LinkButton>
        </Empty>
      </Page>
    );
  return (
    <Page
      title={t.rollouts.one}
      about={
        entry && (
          <span class="under">
            <RolloutState rollout={entry} />
            <span>
              {t.who(entry.by)}, <Time iso={entry.started_at} />
            </span>
            <a href={`/history?item=${encodeURIComponent(id)}`}>{t.nav.history}</a>
          </span>
        )
      }
    >
      <Loaded of={rollout} rows={8}>
        {({ rollout: told, data, total }) => (
          <>
            <p class="headline" role="status">
              {headlineOf(told)}
            </p>
            {reasonOf(told) !== '' && <p class={told.state === 'halted' ? 'problem' : 'muted'}>{reasonOf(told)}</p>}
            <Tallies rollout={told} />
            {told.halted_items.map(({ type, slug, version, site_id }) => (
              <p key={`${type} ${slug} ${version}`} class="note">
                <span>
                  {t.rollouts.haltedItem(bareSlug(slug), version)} <SiteLink items={data} site={site_id} />
                </span>
              </p>
            ))}
            <Steer rollout={told} />
            {told.waves.map((wave) => (
              <WaveCard key={wave.wave} wave={wave} items={data.filter((item) => item.wave === wave.wave)} all={data} />
            ))}
            <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            <Trouble items={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const atWork = ({ state, waves }: Entry) =>
  state !== 'running' ||
  waves.some((wave) => wave.state === 'running') ||
  waves.every(({ state }) => state !== 'soaking');

/** What happens next, or how it ended: one sentence. */
function headlineOf(rollout: Entry): string {
  const { state, waves, approval_wave, next } = rollout;
  if (approval_wave !== null) return t.rollouts.waveWaits(approval_wave);
  if (state !== 'running') return t.rollouts.headline[state](next !== '');
  const current = waves.find((wave) => wave.state !== 'done');
  // A rollout in progress has no wave in the last two states.
  if (current === undefined || current.state === 'stopped' || current.state === 'not_begun')
    return t.rollouts.state.completed;
  if (current.state !== 'soaking' || current.soak_until === null)
    return t.rollouts.wave[current.state](current.wave, waves.length);
  return t.rollouts.soaks(
    current.wave,
    clock(current.soak_until),
    waves.some(({ wave }) => wave > current.wave) ? current.wave + 1 : null,
  );
}

const reasonOf = ({ state, reason }: Entry) => (state === 'running' || state === 'completed' ? '' : reason);

function Tallies({ rollout: { counts } }: { rollout: Entry }) {
  return (
    <ul class="tallies">
      {ORDER.filter((state) => (counts[state] ?? 0) > 0).map((state) => (
        <li key={state}>
          <span class={`tally ${ITEM[state].tone}`}>
            <strong>{number(counts[state] ?? 0)}</strong>
            <span>{t.rollouts.item[state]}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

type Control = 'pause' | 'resume' | 'abort' | 'approve';

function send(word: Control, rollout_id: string) {
  const at = { params: { path: { rollout_id } } };
  switch (word) {
    case 'pause':
      return answer(api.POST('/rollouts/{rollout_id}/pause', at));
    case 'resume':
      return answer(api.POST('/rollouts/{rollout_id}/resume', at));
    case 'abort':
      return answer(api.POST('/rollouts/{rollout_id}/abort', at));
    case 'approve':
      return answer(api.POST('/rollouts/{rollout_id}/approve', at));
  }
}

/** The buttons; on a phone at the bottom, where a thumb is. */
function Steer({ rollout }: { rollout: Entry }) {
  const write = useMayWrite();
  const [aborting, setAborting] = useState(false);
  const { rollout_id, state, approval_wave, counts } = rollout;
  if (!write) return null;
  const control = async (word: Control) => {
    await trying(async () => (await send(word, rollout_id)).message);
    refresh(`rollout:${rollout_id}:`, 'rollouts:', 'now:');
  };
  const open = state === 'running' || state === 'paused';
  const undoable = !open && (counts.kept ?? 0) > 0;
  if (!open && !undoable) return null;
  return (
    <div class="steer" role="toolbar" aria-label={t.rollouts.steer}>
      {approval_wave !== null && (
        <Button kind="main" icon={CircleCheck} onClick={() => control('approve')}>
          {t.rollouts.approve(approval_wave)}
        </Button>
      )}
      {state === 'running' && (
        <Button icon={Pause} onClick={() => control('pause')}>
          {t.rollouts.pause}
        </Button>
      )}
      {state === 'paused' && (
        <Button icon={Play} onClick={() => control('resume')}>
          {t.rollouts.resume}
        </Button>
      )}
      {open && (
        <Button kind="danger" icon={Square} onClick={() => setAborting(true)}>
          {t.rollouts.abort}
        </Button>
      )}
      {undoable && (
        <UndoChange of={{ rollout_id }} what={t.rollouts.undoAll(counts.kept ?? 0)} title={t.rollouts.undoTitle} />
      )}
      {aborting && (
        <Confirm
          title={t.rollouts.abortTitle}
          text={t.rollouts.abortText}
          word={t.rollouts.abort}
          icon={Square}
          leave={t.rollouts.goOn}
          onConfirm={() => control('abort')}
          onClose={() => setAborting(false)}
        />
      )}
    </div>
  );
}

interface WaveProps {
  wave: Wave;
  items: readonly Item[];
  /** Of all waves: names may repeat in another one. */
  all: readonly Item[];
}

function WaveCard({ wave, items, all }: WaveProps) {
  const sites = new Map<number, Item[]>();
  for (const item of items) sites.set(item.site_id, [...(sites.get(item.site_id) ?? []), item]);
  const count = (...states: readonly Item['state'][]) =>
    states.reduce((sum, state) => sum + (wave.counts[state] ?? 0), 0);
  const bad = count('failed', 'unknown', 'rolled_back');
  return (
    <Card
      title={t.rollouts.waveTitle(wave.wave, wave.sites)}
      actions={<Badge {...WAVE[wave.state]}>{t.rollouts.waveState[wave.state]}</Badge>}
    >
      <p class="muted small">
        {wave.started_at !== null && (
          <>
            {t.runs.started} {clock(wave.started_at)}
          </>
        )}
        {wave.state === 'soaking' && wave.soak_until !== null && ` · ${t.rollouts.until(clock(wave.soak_until))}`}
        {wave.approved_by !== null && ` · ${t.rollouts.approvedBy(t.who(wave.approved_by))}`}
        {wave.run_ids.map((id, at) => (
          <span key={id}>
            {' · '}
            <a href={runAddress(id)}>{wave.run_ids.length === 1 ? t.runs.open : `${t.runs.run} ${at + 1}`}</a>
          </span>
        ))}
      </p>
      {wave.state !== 'waiting' && wave.state !== 'not_begun' && (
        <Progress
          done={bad + count('kept', 'skipped')}
          failed={bad}
          total={wave.updates}
          label={t.rollouts.waveTitle(wave.wave, wave.sites)}
        />
      )}
      <ul class="cells wave">
        {[...sites].map(([site, own]) => (
          <li key={site}>
            <SiteCell site={site} items={own} all={all} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

const worstOf = (items: readonly Item[]) =>
  ORDER.find((state) => items.some((item) => item.state === state)) ?? 'untouched';

/** A site, by the worst of its updates. */
function SiteCell({ site, items, all }: { site: number; items: readonly Item[]; all: readonly Item[] }) {
  const { tone, icon } = ITEM[worstOf(items)];
  const { name, address } = siteTitle(all, site);
  const said = items
    .map(
      ({ slug, old_version, new_version, state }) =>
        `${t.now.change(bareSlug(slug), old_version, new_version)}: ${t.rollouts.item[state]}`,
    )
    .join(', ');
  return (
    <a class={`cell ${tone}`} href={`/sites/${site}?tab=updates`} title={said}>
      <Icon of={icon} class={tone === 'busy' ? 'turning' : ''} />
      <span>
        {name}
        {address !== null && <span class="address">{address}</span>}
      </span>
      <span class="unseen">{said}</span>
    </a>
  );
}

const TROUBLE: readonly Item['state'][] = ['failed', 'unknown', 'rolled_back', 'skipped'];
const LISTED = 50;

/** What did not go through, with its reason. */
function Trouble({ items }: { items: readonly Item[] }) {
  const found = items
    .filter(({ state }) => TROUBLE.includes(state))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  if (found.length === 0) return null;
  return (
    <Card title={t.rollouts.trouble}>
      <ul class="lines">
        {found.slice(0, LISTED).map((item) => (
          <li key={`${item.site_id} ${item.type} ${item.slug}`}>
            <span class="under">
              <Badge {...ITEM[item.state]}>{t.rollouts.item[item.state]}</Badge>
              <span>
                <SiteLink items={items} site={item.site_id} tab="?tab=updates" />
              </span>
              <span>{t.now.change(bareSlug(item.slug), item.old_version, item.new_version)}</span>
            </span>
            {item.message !== undefined && <span class="muted small">{item.message}</span>}
          </li>
        ))}
      </ul>
      {found.length > LISTED && <p class="muted">{t.now.more(number(found.length - LISTED))}</p>}
    </Card>
  );
}
