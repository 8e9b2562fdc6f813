/**
 * Now: matters that need attention, worst first; available updates; running jobs; the last day of the monitored sites.
 */

import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { LinkButton } from '../parts/button.js';
import { distinctNames } from '../parts/distinct.js';
import { CircleCheckBig, PackageCheck, Plus } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Strip } from '../parts/strip.js';
import { number, Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { Unguarded } from './guard-all.js';
import { JobLines } from './job-lines.js';
import { type Matter, Matters, URGENT } from './matters.js';
import { RolloutLines } from './rollouts.js';
import { Aside } from './set-aside.js';
import { Trend } from './trend.js';
import { WatchQuestion } from './watch.js';

const CASES = 6;
const WORST = {
  orderby: 'downtime_24h' as const,
  order: 'desc' as const,
  per_page: 12,
  _fields: ['id', 'name', 'url', 'uptime_24h', 'uptime_ratio_24h', 'last_check_at'],
};

export function Now() {
  const write = useMayWrite();
  const fleet = useAttention();
  useLiveRefresh(['site', 'alert', 'updates', 'job'], 'now:', 3000);
  return (
    <Page
      title={t.nav.now}
      waiting={pressing(fleet.data?.matters)}
      about={fleet.data && <Total {...fleet.data.sites} />}
    >
      <Loaded of={fleet} rows={6}>
        {({ sites }) =>
          sites.total === 0 && (
            <Empty icon={Plus} title={t.now.noSites}>
              <p>{t.now.noSitesText}</p>
              {write && (
                <LinkButton kind="main" href="/start" icon={Plus}>
                  {t.now.addSites}
                </LinkButton>
              )}
            </Empty>
          )
        }
      </Loaded>
      {fleet.data?.sites.total !== 0 && <Parts of={fleet.data} />}
    </Page>
  );
}

function useAttention() {
  return useLoad('now:attention', (signal) =>
    answer(api.GET('/fleet/attention', { params: { query: { cases: CASES } }, signal })).then(({ data }) => data),
  );
}

/** Hidden until it is known what needs attention: so all parts read at once, and appear together. */
function Parts({ of: data }: { of: ReturnType<typeof useAttention>['data'] }) {
  const write = useMayWrite();
  const calm = data?.matters.length === 0;
  return (
    <div class="now" hidden={data === undefined}>
      <div class="first">
        {write && data?.not_known.monitors !== 0 && <WatchQuestion />}
        <RolloutLines />
        <Card title={calm ? undefined : t.now.attention}>
          {calm && (
            <Empty icon={CircleCheckBig} title={t.now.calm}>
              <p>{t.now.calmText}</p>
            </Empty>
          )}
          {data && !calm && <Matters matters={data.matters} />}
          {data && <NotKnown {...data.not_known} />}
          <Aside />
        </Card>
        <Beats />
      </div>
      <div class="second">
        <Trend />
        {data && <Offers {...data.updates} />}
        <Unguarded />
        <JobLines />
        {data && <Done done={data.done} />}
      </div>
    </div>
  );
}

/** How many cases cannot wait: sites that do not work, and nobody is known to be on it. */
function pressing(matters: readonly Matter[] = []): number {
  return matters.reduce(
    (sum, { matter, count, cases }) =>
      URGENT.includes(matter) ? sum + count - cases.filter(({ mark }) => mark !== null).length : sum,
    0,
  );
}

function Total({ total, disconnected, suspended }: { total: number; disconnected: number; suspended: number }) {
  return (
    <>
      {t.sites.found(number(total))}
      {disconnected > 0 && (
        <>
          , <a href="/sites?status=disconnected">{t.now.disconnected(number(disconnected))}</a>
        </>
      )}
      {suspended > 0 && (
        <>
          , <a href="/sites?status=suspended">{t.now.suspended(number(suspended))}</a>
        </>
      )}
    </>
  );
}

interface Unknown {
  monitors: number;
  certificates: number;
  domains: number;
  backups: number;
  /** null = not on a site. */
  vulnerabilities: number | null;
}

function NotKnown({ monitors, certificates, domains, backups, vulnerabilities }: Unknown) {
  const parts = [
    ...(monitors > 0 ? [t.now.unknown.monitors(monitors)] : []),
    ...(certificates > 0 ? [t.now.unknown.certificates(certificates)] : []),
    ...(domains > 0 ? [t.now.unknown.domains(domains)] : []),
    ...(backups > 0 ? [t.now.unknown.backups(backups)] : []),
    ...(vulnerabilities === null
      ? [t.now.unknown.noFeed]
      : vulnerabilities > 0
        ? [t.now.unknown.vulnerabilities(vulnerabilities)]
        : []),
  ];
  if (parts.length === 0) return null;
  return (
    <p class="note small">
      {t.now.unknown.intro} {parts.join(' · ')}
    </p>
  );
}

function Offers({ major, minor, patch, unknown }: { major: number; minor: number; patch: number; unknown: number }) {
  const rows = [
    ['patch', patch],
    ['minor', minor],
    ['major', major],
    ['unknown', unknown],
  ] as const;
  const total = major + minor + patch + unknown;
  return (
    <Card
      title={t.now.updates}
      actions={
        total > 0 && (
          <LinkButton small href="/updates/plan" icon={PackageCheck}>
            {t.plan.title}
          </LinkButton>
        )
      }
    >
      {total === 0 ? (
        <p class="muted">{t.now.noUpdates}</p>
      ) : (
        <ul class="counts">
          {rows.map(([level, count]) =>
            count === 0 ? null : (
              <li key={level}>
                <a href={level === 'unknown' ? '/updates' : `/updates?level=${level}`}>
                  <strong>{number(count)}</strong> {t.now.level[level]}
                </a>
              </li>
            ),
          )}
        </ul>
      )}
    </Card>
  );
}

function Done({ done }: { done: readonly { context: string; action: string; count: number; sites: number }[] }) {
  return (
    <Card title={t.now.done} actions={<a href="/history">{t.nav.history}</a>}>
      {done.length === 0 ? (
        <p class="muted">{t.now.nothingDone}</p>
      ) : (
        <ul class="lines">
          {done.slice(0, 8).map(({ context, action, count, sites }) => (
            <li key={`${context} ${action}`}>
              <a href={`/history?${new URLSearchParams({ kind: context, action, days: '1' })}`}>
                {t.action(context, action)}
              </a>{' '}
              <span class="muted">{t.now.times(number(count), sites)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Sites that are or were down come first. */
function Beats() {
  const monitors = useLoad('now:beats', (signal) => answer(api.GET('/monitors', { params: { query: WORST }, signal })));
  const shown = (monitors.data?.data ?? []).filter(({ uptime_24h }) =>
    uptime_24h.some(({ status }) => status !== 'unknown'),
  );
  if (shown.length === 0) return null;
  const nameOf = distinctNames(shown);
  return (
    <Card title={t.now.beats} actions={<a href="/monitors">{t.now.allMonitors(number(monitors.data?.total ?? 0))}</a>}>
      <ul class="beats">
        {shown.map((monitor) => (
          <li key={monitor.id}>
            <a href={`/sites/${monitor.id}?tab=uptime`} title={nameOf(monitor)}>
              {nameOf(monitor)}
            </a>
            <Strip hours={monitor.uptime_24h} name={monitor.name} />
            <span class="figure">{t.percent(monitor.uptime_ratio_24h)}</span>
            <span class="muted when">
              <Time iso={monitor.last_check_at} otherwise={t.never} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
