/**
 * Updates inside an assistant. Of one site: the plan with the protection of each item, then the outcome of each, and
 * rolling back. Of many: the plan, and the run.
 */

import { useState } from 'preact/hooks';
import { Badge, type Tone } from '../parts/badge.js';
import { CircleCheck, Shield, ShieldCheck, ShieldOff, TriangleAlert, Undo2 } from '../parts/icons.js';
import { type FleetPlan, PlanView } from './fleet-plan.js';
import { type Json, Press, plainUrl, start, textOf, type ViewProps } from './frame.js';
import type { Host } from './host.js';
import { type Run, RunView, useRun } from './run.js';
import { say } from './texts.js';

type Protection = 'guard' | 'reinstall' | 'none';

interface Item {
  type: string;
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
  protection: Protection;
}

interface Problem {
  type: string;
  slug: string;
  code: string;
  message: string;
  evidence?: string[];
}

interface Update {
  site_id: number;
  site_url: string;
  dry_run: boolean;
  planned: Item[];
  updated: Item[];
  suspects: { change_id: string; slug: string; findings: string[] }[];
  errors: Problem[];
  notices: string[];
}

const PROTECTIONS = {
  guard: ['good', ShieldCheck],
  reinstall: ['warn', Shield],
  none: ['bad', ShieldOff],
} as const satisfies Record<Protection, readonly [Tone, unknown]>;

function Versions({ item }: { item: Item }) {
  return (
    <span>
      <b>{item.name || item.slug}</b> {item.old_version} → {item.new_version}
    </span>
  );
}

function Planned({ item }: { item: Item }) {
  const [tone, icon] = PROTECTIONS[item.protection];
  return (
    <li class="item">
      <Versions item={item} />
      <Badge tone={tone} icon={icon}>
        {say.update[item.protection]}
      </Badge>
    </li>
  );
}

/** An installed item, with a rollback button. Only plugins and themes can be rolled back. */
function Done({ item, update, host }: { item: Item; update: Update; host: Host }) {
  const [outcome, setOutcome] = useState('');
  const suspect = update.suspects.find(({ slug }) => slug === item.slug);
  const rollBack = async () => {
    const args = { site_id_or_domain: update.site_id, type: item.type, slug: item.slug, to_version: item.old_version };
    const result = await host.call('svc-roll-back-v1', args);
    const { version, well } = (result.structuredContent ?? {}) as { version?: string; well?: boolean };
    setOutcome(result.isError === true ? textOf(result) : say.update.result(version ?? '', well === true));
  };
  const canRollBack = host.canCall && outcome === '' && (item.type === 'plugin' || item.type === 'theme');
  return (
    <li class="item">
      <Versions item={item} />
      <Badge tone={suspect === undefined ? 'good' : 'warn'} icon={suspect === undefined ? CircleCheck : TriangleAlert}>
        {suspect === undefined ? say.update.updated : say.update.suspect}
      </Badge>
      {suspect?.findings.map((finding) => (
        <p class="muted" key={finding}>
          {finding}
        </p>
      ))}
      {canRollBack && (
        <Press quiet sure={say.update.rollBackSure(item.old_version)} onPress={rollBack}>
          {say.update.rollBack}
        </Press>
      )}
      {outcome !== '' && <p>{outcome}</p>}
    </li>
  );
}

const OUTCOMES: Record<string, string> = {
  svc_update_rolled_back: say.update.rolledBack,
  svc_version_quarantined: say.update.quarantined,
};

function Failed({ problem, planned }: { problem: Problem; planned: readonly Item[] }) {
  const item = planned.find(({ type, slug }) => type === problem.type && slug === problem.slug);
  return (
    <li class="item">
      {item === undefined ? <b>{problem.slug || problem.type}</b> : <Versions item={item} />}
      <Badge tone="bad" icon={problem.code === 'svc_update_rolled_back' ? Undo2 : TriangleAlert}>
        {OUTCOMES[problem.code] ?? say.update.failed}
      </Badge>
      <p>{problem.message}</p>
      {problem.evidence
        ?.filter((line) => !problem.message.includes(line))
        .map((line) => (
          <p class="muted" key={line}>
            {line}
          </p>
        ))}
    </li>
  );
}

function SiteUpdate({ answer, host, again }: ViewProps<Update>) {
  const { dry_run: plan, planned, updated, errors, notices } = answer;
  const empty = planned.length + updated.length + errors.length === 0;
  return (
    <>
      {empty && <p>{say.update.nothing}</p>}
      <ul class="items">
        {plan && planned.map((item) => <Planned key={`${item.type} ${item.slug}`} item={item} />)}
        {updated.map((item) => (
          <Done key={`${item.type} ${item.slug}`} item={item} update={answer} host={host} />
        ))}
        {errors.map((problem) => (
          <Failed key={`${problem.type} ${problem.slug} ${problem.code}`} problem={problem} planned={planned} />
        ))}
      </ul>
      {notices.map((notice) => (
        <p class="muted" key={notice}>
          {notice}
        </p>
      ))}
      {plan && planned.length > 0 && host.canCall && (
        <Press
          sure={say.update.goSure}
          onPress={() => again({ dry_run: false, specific_items: planned.map(({ slug }) => slug) })}
        >
          {say.update.go(planned.length)}
        </Press>
      )}
    </>
  );
}

/** A run, or only its id where the answer is that of the call which made it. */
type RunAnswer = Pick<Run, 'run_id'> & Partial<Run>;

type Answer =
  | { kind: 'site'; of: Update }
  | { kind: 'plan'; of: FleetPlan }
  | { kind: 'run'; of: RunAnswer }
  /** There was nothing to do. */
  | { kind: 'none'; of: object };

function RunOf({ answer, host }: { answer: RunAnswer; host: Host }) {
  const known = answer.items === undefined ? undefined : (answer as Run);
  return <RunView host={host} {...useRun(host, answer.run_id, known)} />;
}

function View({ answer, host, ...props }: ViewProps<Answer>) {
  const { kind, of } = answer;
  const planned = kind === 'plan' || (kind === 'site' && of.dry_run);
  return (
    <main class="app">
      <header>
        <h1>{planned ? say.update.plan : kind === 'site' ? say.update.done : say.run.title}</h1>
        {kind === 'site' && <span class="muted">{plainUrl(of.site_url)}</span>}
      </header>
      {kind === 'site' && <SiteUpdate answer={of} host={host} {...props} />}
      {kind === 'plan' && <PlanView answer={of} host={host} {...props} />}
      {kind === 'run' && <RunOf key={of.run_id} answer={of} host={host} />}
      {kind === 'none' && <p>{say.update.nothing}</p>}
      {!host.canCall && <p class="muted">{say.noCalls}</p>}
    </main>
  );
}

function read(output: Json): Answer | undefined {
  if (Array.isArray(output.planned)) return { kind: 'site', of: output as unknown as Update };
  if (Array.isArray(output.would_update)) return { kind: 'plan', of: output as unknown as FleetPlan };
  if (typeof output.run_id === 'string') return { kind: 'run', of: output as unknown as RunAnswer };
  return Array.isArray(output.updated) ? { kind: 'none', of: output } : undefined;
}

start<Answer>({
  name: 'sitefleet-update',
  tool: ({ kind }) => (kind === 'site' ? 'svc-safe-update-site-v1' : 'svc-run-updates-v1'),
  read,
  View,
});
