/** A run of updates inside an assistant: read until it has ended, what each site and item did, and one sentence of all. */

import { Badge, type Tone } from '../parts/badge.js';
import {
  CircleCheck,
  CircleDashed,
  CircleMinus,
  LoaderCircle,
  OctagonX,
  TriangleAlert,
  Undo2,
} from '../parts/icons.js';
import { Progress } from '../parts/progress.js';
import { isSuspect } from '../parts/suspect.js';
import { Evidence } from './evidence.js';
import type { Host } from './host.js';
import { Matrix, type Placed } from './matrix.js';
import { readPages, usePolled } from './polled.js';
import { say } from './texts.js';

interface Item extends Placed {
  state: keyof typeof SIGNS;
  old_version: string;
  new_version: string;
  restored_after_ms?: number;
  code?: string;
  message?: string;
  evidence?: string[];
}

export interface Run {
  run_id: string;
  state: 'running' | 'ended';
  sites: number;
  waiting_sites?: number;
  counts: Partial<Record<keyof typeof SIGNS, number>>;
  items: Item[];
  total: number;
}

const SIGNS = {
  queued: ['idle', CircleDashed],
  updating: ['busy', LoaderCircle],
  checking: ['busy', LoaderCircle],
  kept: ['good', CircleCheck],
  rolled_back: ['warn', Undo2],
  failed: ['bad', OctagonX],
  skipped: ['idle', CircleMinus],
  unknown: ['bad', OctagonX],
} as const satisfies Record<string, readonly [Tone, unknown]>;

const SUSPECT = ['warn', TriangleAlert] as const;
const EVERY_MS = 2000;
/** Of one call, and calls. */
const PER_PAGE = 20;
const PAGES = 10;

/** The run of this id; until it is read, what is known of it. */
export function useRun(host: Host, run_id: string, known?: Run): { run: Run | undefined; problem: string } {
  const { told, problem } = usePolled<Run>(
    host,
    run_id,
    () => readPages(host, 'svc-get-run-v1', { run_id, per_page: PER_PAGE }, PAGES),
    ({ state }) => (state === 'running' ? EVERY_MS : null),
    known,
  );
  return { run: told, problem };
}

export function RunView({ host, run, problem }: { host: Host; run: Run | undefined; problem: string }) {
  if (run === undefined) return <p class={problem === '' ? 'muted' : 'problem'}>{problem || say.waiting}</p>;
  const { items, counts, waiting_sites: waiting = 0 } = run;
  const open = (counts.queued ?? 0) + (counts.updating ?? 0) + (counts.checking ?? 0) + waiting;
  const names = new Map(items.map(({ site_id, site_name }) => [site_id, site_name ?? say.job.site(site_id)]));
  const total = Object.values(counts).reduce((sum, count) => sum + count, waiting);
  return (
    <>
      <p class="headline">{headline(run)}</p>
      {run.state === 'running' && <Progress done={total - open} total={total} label={say.run.title} />}
      <Matrix
        items={items}
        head={({ name, slug }) => name || slug}
        cell={(item) => {
          const [tone, icon] = isSuspect(item) ? SUSPECT : SIGNS[item.state];
          return (
            <span title={`${item.old_version} → ${item.new_version}`}>
              <Badge tone={tone} icon={icon}>
                {wordOf(item)}
              </Badge>
            </span>
          );
        }}
      />
      {items
        .map((item) => ({
          ...item,
          told: item.state === 'kept' ? (item.evidence?.join(' ') ?? item.message) : item.message,
        }))
        .filter((item) => item.told !== undefined && (item.state !== 'kept' || isSuspect(item)))
        .map(({ site_id, site_name, type, slug, name, told }) => (
          <p class="muted" key={`${site_id} ${type} ${slug}`}>
            <b>
              {site_name ?? say.job.site(site_id)} {name || slug}
            </b>{' '}
            {told}
          </p>
        ))}
      {run.total > items.length && <p class="muted">{say.more(items.length, run.total)}</p>}
      {problem !== '' && <p class="problem">{problem}</p>}
      {run.state === 'ended' && <Evidence host={host} run={run.run_id} names={names} />}
    </>
  );
}

const seconds = (ms: number) => `${ms < 9950 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)} s`;

function wordOf({ state, new_version, restored_after_ms }: Item): string {
  if (state === 'kept') return new_version;
  if (state === 'rolled_back' && restored_after_ms !== undefined) return say.run.restored(seconds(restored_after_ms));
  return say.run.state[state];
}

function headline({ state, counts, items }: Run): string {
  if (state === 'running') return say.run.running;
  const kept = new Set(items.filter((item) => item.state === 'kept').map(({ site_id }) => site_id));
  const broke = items
    .filter((item) => item.restored_after_ms !== undefined)
    .sort((a, b) => (b.restored_after_ms ?? 0) - (a.restored_after_ms ?? 0));
  const [worst] = broke;
  const rescued =
    worst === undefined
      ? ''
      : say.run.rescued(
          broke.length,
          worst.site_name ?? say.job.site(worst.site_id),
          seconds(worst.restored_after_ms ?? 0),
        );
  return `${say.run.kept(counts.kept ?? 0, kept.size)}${rescued}.${say.run.suspects(items.filter(isSuspect).length)}`;
}
