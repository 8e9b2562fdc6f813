/** Monitors and incidents: the state of every site in the last day, and the notifications that were sent. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { refresh, useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { MonitorState } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { distinctNames } from '../parts/distinct.js';
import { SearchField, SelectField } from '../parts/field.js';
import { Activity, BellRing, Settings2 } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager, type PagerProps } from '../parts/pager.js';
import { pageIn, pageOf, useQuery, useTyped } from '../parts/query.js';
import { SortChoice, SortHead } from '../parts/sort.js';
import { Empty, Loaded } from '../parts/states.js';
import { Strip } from '../parts/strip.js';
import { number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { MonitorDialog } from './monitor-dialog.js';

const PER_PAGE = 50;
const ORDERS = ['name', 'state', 'uptime_30d', 'response_time', 'last_check'] as const;
const FALLING: readonly string[] = ['response_time', 'last_check'];
const STATES = ['up', 'down', 'pending'] as const;

export function Monitors() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const status = STATES.find((one) => one === query.status);
  const [typed, setTyped] = useTyped(query.search ?? '', (search) => change({ search, page: undefined }, true));
  const asked = {
    ...(query.search === undefined ? {} : { search: query.search }),
    ...(status === undefined ? {} : { status: [status] }),
    orderby: ORDERS.find((one) => one === query.orderby) ?? ('state' as const),
    order: query.order === 'desc' ? ('desc' as const) : ('asc' as const),
    page,
    per_page: PER_PAGE,
  };
  const monitors = useLoad(
    `monitors:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/monitors', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['alert', 'site'], 'monitors:', 3000);
  const filtered = status !== undefined || query.search !== undefined;
  return (
    <Page title={t.nav.monitors} about={monitors.data && t.monitors.count(number(monitors.data.total))}>
      <Switch />
      <search class="filters">
        <SearchField label={t.sites.search} value={typed} onInput={setTyped} />
        <SelectField
          hidden
          label={t.inventory.state}
          value={status ?? ''}
          onChange={(next) => change({ status: next, page: undefined })}
          options={[['', t.monitors.anyState], ...STATES.map((one) => [one, t.monitor[one]] as const)]}
        />
        <SortChoice
          of={asked}
          sort={(next) => change({ ...next, page: undefined })}
          options={ORDERS.map((one) => [one, t.monitors.order[one]] as const)}
          falling={FALLING}
        />
      </search>
      <Loaded of={monitors} rows={8}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty icon={Activity} title={filtered ? t.sites.nothingFits : t.now.noSites} />
          ) : (
            <Monitored
              monitors={data}
              of={{ orderby: asked.orderby, order: asked.order }}
              sort={(next) => change({ ...next, page: undefined })}
              pages={{ page, perPage: PER_PAGE, total, go: pageIn(change) }}
            />
          )
        }
      </Loaded>
      <Alerts />
    </Page>
  );
}

type Monitor = paths['/monitors']['get']['responses'][200]['content']['application/json']['data'][number];

interface MonitoredProps {
  monitors: readonly Monitor[];
  of: { orderby: string; order: 'asc' | 'desc' };
  sort: (next: { orderby: string; order: string }) => void;
  pages: PagerProps;
}

function Monitored({ monitors, of, sort, pages }: MonitoredProps) {
  const write = useMayWrite();
  const [editing, setEditing] = useState<Monitor | null>(null);
  const nameOf = distinctNames(monitors);
  const head = (by: (typeof ORDERS)[number]) => (
    <SortHead by={by} word={t.monitors.order[by]} of={of} sort={sort} falling={FALLING.includes(by)} />
  );
  return (
    <>
      <div class="scroll">
        <table class="list monitors">
          <thead>
            <tr>
              {head('name')}
              {head('state')}
              <th scope="col">{t.monitors.last24}</th>
              {head('uptime_30d')}
              {head('response_time')}
              {head('last_check')}
              {write && (
                <th scope="col">
                  <span class="unseen">{t.sites.actions}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {monitors.map((monitor) => (
              <tr key={monitor.id}>
                <th scope="row">
                  <a href={`/sites/${monitor.id}?tab=uptime`}>{nameOf(monitor)}</a>
                </th>
                <td data-label={t.inventory.state}>
                  <MonitorState state={monitor.last_status} maintenance={monitor.maintenance_until !== null} />
                </td>
                <td data-label={t.monitors.last24} class="strips">
                  <Strip hours={monitor.uptime_24h} name={monitor.name} />
                </td>
                <td data-label={t.monitors.monthWord}>{t.percent(monitor.uptime_ratio_30d)}</td>
                <td data-label={t.monitors.responseTime}>
                  {monitor.response_time_avg_ms === null ? (
                    <span class="muted">{t.unknown}</span>
                  ) : (
                    `${Math.round(monitor.response_time_avg_ms)} ms`
                  )}
                </td>
                <td data-label={t.monitors.lastCheck}>
                  <Time iso={monitor.last_check_at} otherwise={t.never} />
                </td>
                {write && (
                  <td class="act">
                    <Button
                      small
                      icon={Settings2}
                      label={`${t.monitors.change}: ${nameOf(monitor)}`}
                      onClick={() => setEditing(monitor)}
                    >
                      {t.monitors.change}
                    </Button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager {...pages} />
      {editing && <MonitorDialog site={editing} close={() => setEditing(null)} />}
    </>
  );
}

/** Shows that monitoring is off for the whole fleet, and offers to switch it on. */
function Switch() {
  const write = useMayWrite();
  const settings = useLoad('monitors:settings', (signal) =>
    answer(api.GET('/settings/monitoring', { signal })).then(({ data }) => data),
  );
  if (settings.data === undefined || settings.data.svc_uptime_monitoring_active === 1) return null;
  const on = async () => {
    await trying(async () => {
      await answer(api.PATCH('/settings/monitoring/edit', { body: { svc_uptime_monitoring_active: 1 } }));
      return t.monitors.nowOn;
    });
    refresh('monitors:', 'now:', 'settings:');
  };
  return (
    <div class="note banner">
      <p>{t.monitors.allOff}</p>
      {write && (
        <Button small kind="main" icon={Activity} onClick={on}>
          {t.monitors.switchOnAll}
        </Button>
      )}
    </div>
  );
}

const nameIn = ({ name, domain_name }: Readonly<Record<string, unknown>>) => String(name ?? domain_name ?? '');

function Alerts() {
  const alerts = useLoad('monitors:alerts', (signal) =>
    answer(api.GET('/alerts', { params: { query: { per_page: 20 } }, signal })),
  );
  return (
    <Card title={t.monitors.alerts}>
      <Loaded of={alerts}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={BellRing} title={t.monitors.noAlerts} />
          ) : (
            <ul class="log">
              {data.map((alert) => (
                <li key={alert.id}>
                  <span class="what">
                    {alert.site_id === null ? (
                      // Its site was deleted, or it concerns them all.
                      nameIn(alert.facts) || t.monitors.allSites
                    ) : (
                      <a href={`/sites/${alert.site_id}?tab=uptime`}>
                        {nameIn(alert.facts) || t.site.number(alert.site_id)}
                      </a>
                    )}
                    : {t.alertKind[alert.kind] ?? alert.kind}
                  </span>
                  <span class="muted">
                    {alert.delivered ? t.monitors.sent : t.monitors.notSent} · <Time iso={alert.time} />
                  </span>
                  {typeof alert.facts.msg === 'string' && alert.facts.msg !== '' && (
                    <p class="seen">{alert.facts.msg}</p>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
