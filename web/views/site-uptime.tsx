/** Response times and incidents of a site. */

import { useState } from 'preact/hooks';
import lazy from 'preact-iso/lazy';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { MonitorState } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Activity, RotateCw, Settings2 } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Strip } from '../parts/strip.js';
import { span, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { Year } from '../parts/year.js';
import { t } from '../texts/texts.js';
import { MonitorDialog } from './monitor-dialog.js';
import { SetAside } from './set-aside.js';
import type { SiteRecord } from './site.js';
import { Facts } from './site-overview.js';

const Chart = lazy(() => import('../parts/chart.js').then(({ Chart }) => Chart));
const PERIODS = ['24h', '7d', '30d'] as const;

export function Uptime({ site }: { site: SiteRecord }) {
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('7d');
  const [editing, setEditing] = useState(false);
  const write = useMayWrite();
  const at = { id_or_domain: String(site.id) };
  const monitor = useLoad(`site:${site.id}:monitor:whole`, (signal) =>
    answer(api.GET('/monitors/{id_or_domain}', { params: { path: at }, signal })).then(({ data }) => data),
  );
  const beats = useLoad(
    `site:${site.id}:beats:${period}`,
    (signal) =>
      answer(
        api.GET('/monitors/{id_or_domain}/heartbeat', { params: { path: at, query: { period, limit: 1000 } }, signal }),
      ),
    { keepShown: true },
  );
  const days = useLoad(`site:${site.id}:days`, (signal) =>
    answer(api.GET('/monitors/{id_or_domain}/days', { params: { path: at, query: { days: 371 } }, signal })),
  );
  const incidents = useLoad(`site:${site.id}:incidents`, (signal) =>
    answer(api.GET('/monitors/{id_or_domain}/incidents', { params: { path: at, query: { per_page: 20 } }, signal })),
  );
  const check = async () => {
    await trying(async () => {
      const { data } = await answer(api.POST('/monitors/{id_or_domain}/check', { params: { path: at } }));
      return data.uptime_status === 'up' ? t.now.isUp : t.now.isDown(data.http_code);
    });
    refresh(`site:${site.id}:`);
  };
  const toggle = async (active: 0 | 1) => {
    await trying(async () => {
      await answer(api.PATCH('/monitors/{id_or_domain}/settings', { params: { path: at }, body: { active } }));
      return active === 1 ? t.monitors.nowOn : t.monitors.nowOff;
    });
    refresh(`site:${site.id}:`, 'monitors:');
  };
  return (
    <>
      {editing && <MonitorDialog site={site} close={() => setEditing(false)} />}
      <Card
        title={t.site.tab.uptime}
        actions={
          write &&
          monitor.data && (
            <div class="row">
              <Button small icon={RotateCw} onClick={check}>
                {t.now.check}
              </Button>
              <Button small icon={Settings2} onClick={() => setEditing(true)}>
                {t.monitors.change}
              </Button>
              <Button small onClick={() => toggle(monitor.data?.active === 1 ? 0 : 1)}>
                {monitor.data.active === 1 ? t.monitors.switchOff : t.monitors.switchOn}
              </Button>
            </div>
          )
        }
      >
        <Loaded of={monitor}>
          {(data) => (
            <>
              {data.active === 0 && <p class="note">{t.monitors.off}</p>}
              <Strip hours={data.uptime_24h} name={data.name} />
              <Facts
                rows={[
                  [
                    t.inventory.state,
                    <MonitorState key="state" state={data.last_status} maintenance={data.maintenance_until !== null} />,
                  ],
                  [t.monitors.lastCheck, <Time key="check" iso={data.last_check_at} otherwise={t.never} />],
                  [t.monitors.every, t.monitors.frequency(data.check_frequency)],
                  [t.monitors.day, t.percent(data.uptime_ratio_24h)],
                  [t.monitors.week, t.percent(data.uptime_ratio_7d)],
                  [t.monitors.monthWord, t.percent(data.uptime_ratio_30d)],
                ]}
              />
              {data.last_message && <p class="seen">{data.last_message}</p>}
            </>
          )}
        </Loaded>
      </Card>
      <Card
        title={t.monitors.responseTime}
        actions={
          <fieldset class="segments">
            <legend class="unseen">{t.monitors.period}</legend>
            {PERIODS.map((one) => (
              <Button key={one} small kind="quiet" pressed={one === period} onClick={() => setPeriod(one)}>
                {t.monitors.periods[one]}
              </Button>
            ))}
          </fieldset>
        }
      >
        <Loaded of={beats}>
          {({ data, total }) =>
            data.length === 0 ? (
              <Empty icon={Activity} title={t.monitors.noBeats} />
            ) : (
              <>
                <Chart beats={data} label={t.monitors.chart(site.name)} />
                {total > data.length && <p class="note small">{t.monitors.newest(data.length, total)}</p>}
              </>
            )
          }
        </Loaded>
      </Card>
      <Card title={t.monitors.year}>
        <Loaded of={days}>{({ data, since, until }) => <Year days={data} since={since} until={until} />}</Loaded>
      </Card>
      <Card title={t.monitors.incidents}>
        <Loaded of={incidents}>
          {({ data }) =>
            data.length === 0 ? (
              <p class="muted">{t.monitors.noIncidents}</p>
            ) : (
              <ul class="log">
                {data.map((incident) => (
                  <li key={incident.id}>
                    <span class="what">{incident.msg || t.monitors.down}</span>
                    <span class="muted">
                      <Time iso={incident.started_at_iso} /> ·{' '}
                      {incident.resolved ? span(1000 * incident.duration_sec) : t.monitors.open}
                      {incident.acknowledged_at !== null && (
                        <>
                          {' '}
                          · {t.aside.state.acknowledged}{' '}
                          {t.aside.by(incident.acknowledged_by, incident.acknowledged_note)}
                        </>
                      )}
                    </span>
                    {write && !incident.resolved && (
                      <SetAside
                        subject={`incident:${incident.id}`}
                        of={site.name}
                        first={incident.acknowledged_at === null ? 'acknowledged' : 'done'}
                      />
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
    </>
  );
}
