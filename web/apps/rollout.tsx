/**
 * Rollouts inside an assistant: the plan with its waves and what is left out, its start once a person has pressed twice,
 * and then the waves with their sites, until it has ended.
 */

import { useState } from 'preact/hooks';
import { Badge } from '../parts/badge.js';
import { Progress } from '../parts/progress.js';
import { ITEM, type ItemState, ORDER, ROLLOUT, type RolloutEntry, WAVE, type Wave } from '../views/rollout-states.js';
import { bareSlug } from '../views/run-states.js';
import { type Json, outputOf, Press, plainUrl, start, type ViewProps } from './frame.js';
import type { Host } from './host.js';
import { readPages, usePolled } from './polled.js';
import { say } from './texts.js';

interface Plan {
  plan_id: string;
  digest: string;
  updates: number;
  sites: number;
  waves: { wave: number; sites: number; updates: number }[];
  by_item: { type: string; slug: string; new_version: string; sites: number }[];
  more_items: number;
  protection: Record<'guard' | 'reinstall' | 'none', number>;
  risks: { risk: keyof typeof say.rollout.risk; updates: number; sites: number }[];
  left_out: { reason: string; updates: number; sites: number }[];
}

interface Item {
  wave: number;
  site_id: number;
  site_name: string | null;
  site_url: string | null;
  type: string;
  slug: string;
  old_version: string;
  new_version: string;
  state: ItemState;
  message?: string;
}

interface Rollout {
  rollout_id: string;
  state: RolloutEntry['state'];
  reason: string;
  summary: string;
  next: string;
  approval_wave: number | null;
  counts: Partial<Record<ItemState, number>>;
  waves: Wave[];
  items: Item[];
  total: number;
}

/** Of one call, and calls. */
const PER_PAGE = 50;
const PAGES = 6;
const AT_WORK_MS = 2000;
const SOAKING_MS = 15_000;
const TROUBLES = 8;

const wordOf = (state: ItemState) => (state === 'untouched' ? say.rollout.untouched : say.run.state[state]);
const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1).replaceAll('_', ' ');

/** Calls a tool that has to be confirmed, as the person did; with the token of its preview, where the server asks for one. */
async function confirmed(host: Host, tool: string, args: Json): Promise<Json> {
  const { confirmation_token } = await outputOf(host, tool, { ...args, dry_run: true });
  const token = confirmation_token === undefined ? {} : { confirmation_token };
  return outputOf(host, tool, { ...args, confirm: true, ...token });
}

function Lines({ title, lines }: { title: string; lines: readonly (readonly [what: string, count: string])[] }) {
  if (lines.length === 0) return null;
  return (
    <section class="card">
      <h2>{title}</h2>
      <ul>
        {lines.map(([what, count]) => (
          <li key={what}>
            {what} <span class="muted">{count}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function PlanView({ plan, host, begun }: { plan: Plan; host: Host; begun: (rollout_id: string) => void }) {
  const { plan_id, digest, updates, sites, waves, by_item, more_items, protection, risks, left_out } = plan;
  const go = async () => {
    const { rollout_id } = await confirmed(host, 'svc-start-rollout-v1', { plan_id, digest });
    if (typeof rollout_id === 'string') begun(rollout_id);
  };
  return (
    <>
      <p class="headline">
        {updates === 0 ? say.update.nothing : say.rollout.planned(say.rollout.on(updates, sites), waves.length)}
      </p>
      <ol class="waves">
        {waves.map((wave) => (
          <li key={wave.wave} class="card">
            <b>{say.rollout.wave(wave.wave, wave.sites)}</b>
            <span class="muted">{say.rollout.updates(wave.updates)}</span>
          </li>
        ))}
      </ol>
      {updates > 0 && (
        <p class="figures">
          {(['guard', 'reinstall', 'none'] as const)
            .filter((by) => protection[by] > 0)
            .map((by) => (
              <span key={by}>
                <b>{say.rollout.updates(protection[by])}</b> {say.rollout.protection[by]}
              </span>
            ))}
        </p>
      )}
      <Lines
        title={say.rollout.items}
        lines={[
          ...by_item.map(
            ({ slug, new_version, sites: on }) =>
              [`${bareSlug(slug)} ${new_version}`, say.rollout.onSites(on)] as const,
          ),
          ...(more_items === 0 ? [] : [[say.rollout.moreItems(more_items), ''] as const]),
        ]}
      />
      <Lines
        title={say.rollout.risks}
        lines={risks.map((one) => [say.rollout.risk[one.risk], say.rollout.on(one.updates, one.sites)] as const)}
      />
      <Lines
        title={say.rollout.leftOut}
        lines={left_out.map(
          (one) =>
            [
              sentence(one.reason),
              one.updates === 0 ? say.rollout.onSites(one.sites) : say.rollout.on(one.updates, one.sites),
            ] as const,
        )}
      />
      {updates > 0 && (
        <p class="muted">
          {say.rollout.digest} <code>{digest}</code>
        </p>
      )}
      {updates > 0 && host.canCall && (
        <Press sure={say.rollout.sure(say.rollout.on(updates, sites), waves[0]?.sites ?? 0)} onPress={go}>
          {say.rollout.start}
        </Press>
      )}
    </>
  );
}

/** Null: nothing more happens. While a wave soaks, nothing moves for long. */
function waitOf({ state, next, waves }: Rollout): number | null {
  if (next === '') return null;
  const soaks = waves.find((wave) => wave.state === 'soaking')?.soak_until ?? null;
  const left = state !== 'running' || soaks === null ? 0 : Date.parse(soaks) - Date.now();
  return Math.min(Math.max(left, AT_WORK_MS), SOAKING_MS);
}

function RolloutView({ id, known, host }: { id: string; known?: Rollout | undefined; host: Host }) {
  const args = { rollout_id: id, per_page: PER_PAGE };
  const { told, problem, look } = usePolled<Rollout>(
    host,
    id,
    () => readPages(host, 'svc-get-rollout-v1', args, PAGES),
    waitOf,
    known,
  );
  if (told === undefined) return <p class={problem === '' ? 'muted' : 'problem'}>{problem || say.waiting}</p>;
  const { state, reason, summary, next, approval_wave: waits, waves, items, total } = told;
  const control = (action: string) => async () => {
    await confirmed(host, 'svc-control-rollout-v1', { rollout_id: id, action });
    look();
  };
  const open = state === 'running' || state === 'paused';
  const troubles = items.filter((item) => ['failed', 'unknown', 'rolled_back'].includes(item.state));
  return (
    <>
      <p class="headline" role="status">
        <Badge {...(waits === null ? ROLLOUT[state] : { ...ROLLOUT.paused, tone: 'warn' })}>
          {waits === null ? say.rollout.state[state] : say.rollout.waits(waits)}
        </Badge>{' '}
        {summary}
      </p>
      {reason !== '' && !['running', 'completed'].includes(state) && (
        <p class={state === 'halted' ? 'problem' : 'muted'}>{reason}</p>
      )}
      {next !== '' && <p class="muted">{next}</p>}
      {host.canCall && open && (
        <p class="figures">
          {waits !== null && (
            <Press sure={say.rollout.approveSure} onPress={control('approve_next_wave')}>
              {say.rollout.approve(waits)}
            </Press>
          )}
          <Press onPress={control(state === 'paused' ? 'resume' : 'pause')}>
            {state === 'paused' ? say.rollout.resume : say.rollout.pause}
          </Press>
          <Press quiet sure={say.rollout.abortSure} onPress={control('abort')}>
            {say.rollout.abort}
          </Press>
        </p>
      )}
      {waves.map((wave) => (
        <WaveCard key={wave.wave} wave={wave} items={items} />
      ))}
      {total > items.length && <p class="muted">{say.more(items.length, total)}</p>}
      {troubles.slice(0, TROUBLES).map((item) => (
        <p class="muted" key={`${item.site_id} ${item.type} ${item.slug}`}>
          <b>
            {siteOf(items, item)} {bareSlug(item.slug)} {item.new_version}
          </b>{' '}
          {item.message ?? wordOf(item.state)}
        </p>
      ))}
      {troubles.length > TROUBLES && <p class="muted">{say.more(TROUBLES, troubles.length)}</p>}
      {problem !== '' && <p class="problem">{problem}</p>}
    </>
  );
}

/** By name; with the address, where names repeat. */
function siteOf(items: readonly Item[], { site_id, site_name, site_url }: Item): string {
  if (site_name === null) return say.job.site(site_id);
  const repeats = items.some((item) => item.site_id !== site_id && item.site_name === site_name);
  return repeats && site_url !== null ? `${site_name} (${plainUrl(site_url)})` : site_name;
}

function WaveCard({ wave, items }: { wave: Wave; items: readonly Item[] }) {
  const sites = new Map<number, Item[]>();
  for (const item of items)
    if (item.wave === wave.wave) sites.set(item.site_id, [...(sites.get(item.site_id) ?? []), item]);
  const count = (...states: readonly ItemState[]) => states.reduce((sum, one) => sum + (wave.counts[one] ?? 0), 0);
  const bad = count('failed', 'unknown', 'rolled_back');
  const title = say.rollout.wave(wave.wave, wave.sites);
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        <Badge {...WAVE[wave.state]}>{say.rollout.waveState[wave.state]}</Badge>
      </header>
      {wave.state !== 'waiting' && wave.state !== 'not_begun' && (
        <Progress done={bad + count('kept', 'skipped')} failed={bad} total={wave.updates} label={title} />
      )}
      <ul class="sites">
        {[...sites].map(([id, own]) => (
          <SiteBadge key={id} items={items} own={own} />
        ))}
      </ul>
    </section>
  );
}

/** A site, by the worst of its updates. */
function SiteBadge({ items, own }: { items: readonly Item[]; own: readonly Item[] }) {
  const [first] = own;
  const worst = ORDER.find((state) => own.some((item) => item.state === state)) ?? 'untouched';
  if (first === undefined) return null;
  const said = own
    .map(({ slug, new_version, state }) => `${bareSlug(slug)} ${new_version}: ${wordOf(state)}`)
    .join(', ');
  return (
    <li title={said}>
      <Badge {...ITEM[worst]}>{siteOf(items, first)}</Badge>
      <span class="unseen">{said}</span>
    </li>
  );
}

type Answer = { kind: 'plan'; of: Plan } | { kind: 'rollout'; id: string; of?: Rollout };

function View({ answer, host }: ViewProps<Answer>) {
  const [started, setStarted] = useState<string>();
  const id = answer.kind === 'rollout' ? answer.id : started;
  return (
    <main class="app">
      <header>
        <h1>{id === undefined ? say.rollout.plan : say.rollout.title}</h1>
      </header>
      {id !== undefined ? (
        <RolloutView key={id} id={id} known={answer.kind === 'rollout' ? answer.of : undefined} host={host} />
      ) : (
        answer.kind === 'plan' && <PlanView key={answer.of.plan_id} plan={answer.of} host={host} begun={setStarted} />
      )}
      {!host.canCall && <p class="muted">{say.noCalls}</p>}
    </main>
  );
}

function read(output: Json): Answer | undefined {
  if (Array.isArray(output.by_item)) return { kind: 'plan', of: output as unknown as Plan };
  if (typeof output.rollout_id !== 'string') return undefined;
  const whole = Array.isArray(output.items) ? { of: output as unknown as Rollout } : {};
  return { kind: 'rollout', id: output.rollout_id, ...whole };
}

start<Answer>({ name: 'sitefleet-rollout', tool: 'svc-plan-updates-v1', read, View });
