/** Matters that need attention, each with the actions to resolve it. */

import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import type { IconNode } from '../parts/icons.js';
import {
  ArrowDownCircle,
  CalendarClock,
  ClockAlert,
  GlobeX,
  ListX,
  OctagonX,
  RotateCw,
  ShieldAlert,
  TriangleAlert,
  Undo2,
  Unplug,
} from '../parts/icons.js';
import { number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { RollBack } from './roll-back.js';
import { AsideNote, finish, SetAside } from './set-aside.js';
import { UpdateItem } from './update-item.js';
import { SeverityBadge } from './vulnerabilities.js';

type Attention = paths['/fleet/attention']['get']['responses'][200]['content']['application/json']['data'];
export type Matter = Attention['matters'][number];
type Case = Matter['cases'][number];

const STYLES: Record<Matter['matter'], { tone: 'bad' | 'warn'; icon: IconNode; all: string | null }> = {
  broken_update: { tone: 'bad', icon: OctagonX, all: null },
  down_after_update: { tone: 'bad', icon: ArrowDownCircle, all: '/sites?monitor=down' },
  down: { tone: 'bad', icon: ArrowDownCircle, all: '/sites?monitor=down' },
  disconnected: { tone: 'bad', icon: Unplug, all: '/sites?status=disconnected' },
  unreachable: { tone: 'bad', icon: GlobeX, all: null },
  vulnerable: { tone: 'bad', icon: ShieldAlert, all: null },
  suspect_update: { tone: 'warn', icon: TriangleAlert, all: null },
  update_undone: { tone: 'warn', icon: Undo2, all: null },
  update_failed: { tone: 'warn', icon: ListX, all: null },
  certificate_ends: { tone: 'warn', icon: CalendarClock, all: '/sites?certificate_days=14' },
  domain_ends: { tone: 'warn', icon: CalendarClock, all: '/sites?domain_days=30' },
  job_failed: { tone: 'warn', icon: ListX, all: '/jobs' },
  not_synced: { tone: 'warn', icon: ClockAlert, all: '/sites?not_synced_days=7' },
};

export function Matters({ matters }: { matters: readonly Matter[] }) {
  return (
    <div class="matters">
      {matters.map((matter) => {
        const { tone, icon, all } = STYLES[matter.matter];
        // Vulnerabilities are listed per item but counted per site, failed updates per reason.
        const more =
          matter.matter === 'vulnerable' || matter.matter === 'update_failed' ? 0 : matter.count - matter.cases.length;
        return (
          <section key={matter.matter} class={`matter ${tone}`}>
            <h3>
              <Icon of={icon} />
              {t.matter[matter.matter]} <span class="number">{number(matter.count)}</span>
            </h3>
            <ul>
              {matter.cases.map((one) => (
                <li key={`${one.change_id ?? one.job_id ?? one.site_id ?? ''} ${one.item ?? ''}`}>
                  <CaseLine matter={matter.matter} one={one} />
                </li>
              ))}
            </ul>
            {matter.matter === 'vulnerable' && (
              <p>
                <a href="/vulnerabilities">{t.vulnerabilities.all}</a>
              </p>
            )}
            {more > 0 && all !== null && (
              <p>
                <a href={all}>{t.now.more(number(more))}</a>
              </p>
            )}
          </section>
        );
      })}
    </div>
  );
}

/** An update that is set aside is over for its site; that a site does not work is said until it does. */
const stands = ({ change_id, mark }: Case) => change_id === undefined || mark === null || mark === 'acknowledged';

/** What is wrong with one site, above its sections. */
export function SiteMatters({ matters }: { matters: readonly Matter[] }) {
  return (
    <>
      {matters.flatMap(({ matter, cases }) =>
        cases.filter(stands).map((one) => (
          <div key={`${matter} ${one.change_id ?? ''}`} class={`trouble ${STYLES[matter].tone}`} role="status">
            <Icon of={STYLES[matter].icon} />
            <div class="what">
              <strong>{t.matter[matter]}</strong>
              <span>
                <Detail matter={matter} one={one} />
                <AsideNote of={one} />
              </span>
              {one.seen !== undefined && one.seen.length > 0 && <q class="seen">{one.seen[0]}</q>}
            </div>
            <Remedy matter={matter} one={one} />
          </div>
        )),
      )}
    </>
  );
}

function CaseLine({ matter, one }: { matter: Matter['matter']; one: Case }) {
  return (
    <>
      <div class="what">
        {matter === 'vulnerable' ? (
          <span class="under">
            <SeverityBadge severity={one.severity ?? null} />
            <a href="/vulnerabilities">{one.item_name}</a>
          </span>
        ) : one.site_id === null ? (
          <a href={`/jobs?id=${encodeURIComponent(one.job_id ?? '')}`}>{t.jobs.type[one.job_type ?? 'sync']}</a>
        ) : (
          <a href={`/sites/${one.site_id}${one.change_id === undefined ? '' : '?tab=updates'}`}>{one.site_name}</a>
        )}
        <span class="muted">
          <Detail matter={matter} one={one} />
          <AsideNote of={one} />
        </span>
        {one.seen !== undefined && one.seen.length > 0 && <q class="seen">{one.seen[0]}</q>}
      </div>
      <Remedy matter={matter} one={one} />
    </>
  );
}

function Detail({ matter, one }: { matter: Matter['matter']; one: Case }) {
  switch (matter) {
    case 'broken_update':
    case 'suspect_update':
    case 'update_undone':
      return (
        <>
          {t.now.change(one.item ?? '', one.old_version ?? '', one.new_version ?? '')}, <Time iso={one.at} />
        </>
      );
    case 'update_failed':
      return (
        <>
          <a href={`/runs/${encodeURIComponent(one.run_id ?? '')}`}>
            {t.now.change(one.item ?? '', one.old_version ?? '', one.new_version ?? '')}
          </a>
          , <Time iso={one.at} />
          {(one.failed ?? 1) > 1 && <>, {t.now.newestOf(one.failed ?? 0, one.total ?? 0)}</>}
        </>
      );
    case 'down':
    case 'down_after_update':
      return (
        <>
          {one.http_status ? `HTTP ${one.http_status}` : t.now.noAnswer}, {t.now.since} <Time iso={one.at} />
          {one.suspect !== undefined && <>, {t.now.after(`${one.suspect.name} ${one.suspect.new_version}`)}</>}
        </>
      );
    case 'unreachable':
      return (
        <>
          {one.http_status ? `HTTP ${one.http_status}` : t.now.noAnswer}, <Time iso={one.at} />
        </>
      );
    case 'disconnected':
      return (
        <>
          {one.reason ?? t.now.reasonUnknown} {one.at !== null && <Time iso={one.at} />}
        </>
      );
    case 'certificate_ends':
    case 'domain_ends':
      return <Time iso={one.at} />;
    case 'vulnerable':
      return <>{t.now.vulnerable(one.title ?? '', one.total ?? 0, one.known ?? 1, one.unfixed === true)}</>;
    case 'job_failed':
      return <>{t.now.failedSites(one.failed ?? 0, one.total ?? 0)}</>;
    case 'not_synced':
      return (
        <>
          {t.now.lastSync} <Time iso={one.at} otherwise={t.never} />
        </>
      );
  }
}

/** What helps, and setting it aside. */
function Remedy({ matter, one }: { matter: Matter['matter']; one: Case }) {
  const write = useMayWrite();
  const { path, query } = useLocation();
  if (!write) return null;
  const outage = URGENT.includes(matter) && one.mark === null;
  const down = matter === 'down' || matter === 'down_after_update';
  return (
    <span class="row end">
      {matter === 'vulnerable' && one.item_type !== undefined && (
        <UpdateItem type={one.item_type} slug={one.item_slug ?? ''} />
      )}
      {one.site_id !== null && <Help matter={matter} one={one} site={one.site_id} />}
      {one.subject !== null && matter !== 'update_undone' && (
        <SetAside
          subject={one.subject}
          of={[one.item_name ?? one.item, one.site_name].filter(Boolean).join(', ') || t.matter[matter]}
          first={outage ? 'acknowledged' : 'done'}
          asked={outage && down && path.startsWith('/sites/') && query.acknowledge !== undefined}
        />
      )}
    </span>
  );
}

/** Sites that do not work. */
export const URGENT: readonly Matter['matter'][] = [
  'broken_update',
  'down_after_update',
  'down',
  'disconnected',
  'unreachable',
];

function Help({ matter, one, site }: { matter: Matter['matter']; one: Case; site: number }) {
  const { route } = useLocation();
  const id = String(site);
  const { suspect } = one;
  const type = suspect?.type === 'plugin' || suspect?.type === 'theme' ? suspect.type : undefined;
  switch (matter) {
    case 'broken_update':
    case 'suspect_update':
      return (
        <RollBack
          siteId={site}
          of={{ change_id: one.change_id ?? '' }}
          name={one.item ?? ''}
          version={one.old_version ?? ''}
          from={one.new_version ?? ''}
        />
      );
    case 'down_after_update':
    case 'down':
      return (
        <>
          <Button small icon={RotateCw} onClick={() => check(id)}>
            {t.now.check}
          </Button>
          {suspect !== undefined && type !== undefined && (
            <RollBack
              siteId={site}
              of={{ type, slug: suspect.slug }}
              name={suspect.name}
              version={suspect.old_version}
              from={suspect.new_version}
            />
          )}
        </>
      );
    case 'unreachable':
      return (
        <Button small icon={RotateCw} onClick={() => visit(id)}>
          {t.now.check}
        </Button>
      );
    case 'disconnected':
      return (
        <Button small icon={RotateCw} onClick={() => reconnect(id)}>
          {t.now.reconnect}
        </Button>
      );
    case 'not_synced':
      return (
        <Button small icon={RotateCw} onClick={() => sync(id)}>
          {t.sites.sync}
        </Button>
      );
    case 'update_undone':
      // It is over: a look is enough.
      return (
        <Button
          small
          onClick={async () => {
            if (one.subject !== null) await finish(one.subject);
            route(`/sites/${id}?tab=updates`);
          }}
        >
          {t.now.look}
        </Button>
      );
    default:
      return null;
  }
}

const path = (id: string) => ({ params: { path: { id_or_domain: id } } });

async function check(id: string): Promise<void> {
  await trying(async () => {
    const { data } = await answer(api.POST('/monitors/{id_or_domain}/check', path(id)));
    return data.uptime_status === 'up' ? t.now.isUp : t.now.isDown(data.http_code);
  });
  refresh('now:', 'site:');
}

async function visit(id: string): Promise<void> {
  await trying(async () => (await answer(api.POST('/sites/{id_or_domain}/check', path(id)))).message);
  refresh('now:', 'site:');
}

async function reconnect(id: string): Promise<void> {
  await trying(async () => (await answer(api.POST('/sites/{id_or_domain}/reconnect', path(id)))).message);
  refresh('now:');
}

async function sync(id: string): Promise<void> {
  await trying(async () => (await answer(api.POST('/sites/{id_or_domain}/sync', path(id)))).message);
  refresh('now:');
}
