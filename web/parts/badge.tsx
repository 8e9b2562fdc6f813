/** States as an icon and a word; the colour only repeats them. */

import { t } from '../texts/texts.js';
import { Icon } from './icon.js';
import type { IconNode } from './icons.js';
import {
  ArrowDownCircle,
  Ban,
  CheckCircle2,
  CircleDashed,
  CircleHelp,
  CirclePause,
  LoaderCircle,
  OctagonX,
  Shield,
  ShieldCheck,
  ShieldOff,
  TriangleAlert,
  Undo2,
  Unplug,
  Wrench,
} from './icons.js';

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'busy';

export function Badge({ tone, icon, children }: { tone: Tone; icon: IconNode; children: string }) {
  return (
    <span class={`badge ${tone}`}>
      <Icon of={icon} class={tone === 'busy' ? 'turning' : ''} />
      {children}
    </span>
  );
}

const SITE: Record<string, [Tone, IconNode]> = {
  down: ['bad', ArrowDownCircle],
  pending: ['warn', CircleDashed],
  connected: ['good', CheckCircle2],
  disconnected: ['bad', Unplug],
  suspended: ['idle', CirclePause],
};

/** @param state the worse of its status and what its monitor or its last visit found: `state` of the list of sites */
export function SiteStatus({ state }: { state: string }) {
  const [tone, icon] = SITE[state] ?? (['idle', CircleHelp] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {t.siteStatus[state as keyof typeof t.siteStatus] ?? state}
    </Badge>
  );
}

const MONITOR: Record<string, [Tone, IconNode]> = {
  up: ['good', CheckCircle2],
  down: ['bad', ArrowDownCircle],
  pending: ['warn', CircleDashed],
  paused: ['idle', CirclePause],
};

/** Null = there is no monitor. */
export function MonitorState({ state, maintenance = false }: { state: string | null; maintenance?: boolean }) {
  if (maintenance)
    return (
      <Badge tone="idle" icon={Wrench}>
        {t.monitor.maintenance}
      </Badge>
    );
  const [tone, icon] = MONITOR[state ?? ''] ?? (['idle', CircleHelp] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {t.monitor[(state ?? 'unknown') as keyof typeof t.monitor] ?? t.monitor.unknown}
    </Badge>
  );
}

const JOB: Record<string, [Tone, IconNode]> = {
  queued: ['idle', CircleDashed],
  processing: ['busy', LoaderCircle],
  completed: ['good', CheckCircle2],
  failed: ['bad', OctagonX],
};

export function JobState({ status, failed }: { status: string; failed: number }) {
  if (status === 'completed' && failed > 0)
    return (
      <Badge tone="warn" icon={TriangleAlert}>
        {t.jobs.withFailures}
      </Badge>
    );
  const [tone, icon] = JOB[status] ?? (['idle', CircleHelp] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {t.jobs.status[status as keyof typeof t.jobs.status] ?? status}
    </Badge>
  );
}

const OUTCOME: Record<string, [Tone, IconNode]> = {
  kept: ['good', CheckCircle2],
  rolled_back: ['warn', Undo2],
  not_updated: ['idle', Ban],
  broken: ['bad', OctagonX],
};

/** How a protected update ended; null while it is running. What was kept although something looks wrong is no success. */
export function Outcome({ outcome, suspect = false }: { outcome: string | null; suspect?: boolean }) {
  if (suspect && outcome === 'kept')
    return (
      <Badge tone="warn" icon={TriangleAlert}>
        {t.outcome.suspect}
      </Badge>
    );
  const [tone, icon] =
    outcome === null ? (['busy', LoaderCircle] as const) : (OUTCOME[outcome] ?? (['idle', CircleHelp] as const));
  return (
    <Badge tone={tone} icon={icon}>
      {t.outcome[(outcome ?? 'open') as keyof typeof t.outcome]}
    </Badge>
  );
}

/** The way an update would be rolled back. */
export function Protection({ by }: { by: 'guard' | 'reinstall' | 'none' | 'unknown' }) {
  const facts = {
    guard: ['good', ShieldCheck],
    reinstall: ['warn', Shield],
    none: ['idle', ShieldOff],
    unknown: ['idle', CircleHelp],
  } as const satisfies Record<string, [Tone, IconNode]>;
  const [tone, icon] = facts[by];
  return (
    <Badge tone={tone} icon={icon}>
      {t.protection[by]}
    </Badge>
  );
}

/** The level of an update; empty where a version is unknown. */
export function Level({ level }: { level: string | null }) {
  if (level === null) return <span />;
  const tone: Record<string, Tone> = { major: 'bad', minor: 'warn', patch: 'good' };
  return <span class={`level ${tone[level] ?? 'idle'}`}>{t.level[level as keyof typeof t.level]}</span>;
}
