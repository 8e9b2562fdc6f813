/** The monitor of one site: how often and what is checked, and maintenance, while nothing is checked. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { SelectField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Plus, Wrench, X } from '../parts/icons.js';
import { Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

const GLOBAL = 'useglobal';
const INTERVALS = ['1m', '5m', '10m', '15m', '30m', '1h', '2h', '3h', '6h', '12h', '24h'];
const KINDS = [GLOBAL, 'http', 'keyword'] as const;
const HOURS = [1, 2, 4, 8, 24, 72];
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** The fifth of January 2026 was a Monday. */
const dayName = (day: (typeof DAYS)[number]) =>
  new Intl.DateTimeFormat(t.locale, { weekday: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2026, 0, 5 + DAYS.indexOf(day)),
  );

interface Props {
  site: { id: number; name: string };
  close: () => void;
}

const refreshed = (id: number) => refresh('monitors:', 'now:', `site:${id}:`);

export function MonitorDialog({ site, close }: Props) {
  const at = { params: { path: { id_or_domain: String(site.id) } } };
  const monitor = useLoad(`site:${site.id}:monitor:whole`, (signal) =>
    answer(api.GET('/monitors/{id_or_domain}', { ...at, signal })).then(({ data }) => data),
  );
  return (
    <Dialog title={t.monitors.changeTitle(site.name)} onClose={close}>
      <Loaded of={monitor}>
        {(data) => (
          <>
            <Settings id={site.id} own={data} close={close} />
            <Maintenance id={site.id} until={data.maintenance_until} />
            <Weekly id={site.id} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

interface Own {
  interval: string;
  type: string;
  keyword: string;
  /** Names of the settings that follow the global ones. */
  useglobal: readonly string[];
}

function Settings({ id, own, close }: { id: number; own: Own; close: () => void }) {
  const follows = (name: string) => own.useglobal.includes(name);
  const [interval, setInterval] = useState(follows('interval') ? GLOBAL : own.interval);
  const [type, setType] = useState(follows('type') ? GLOBAL : own.type);
  const [keyword, setKeyword] = useState(follows('keyword') ? '' : own.keyword);
  const save = async () => {
    await answer(
      api.PATCH('/monitors/{id_or_domain}/settings', {
        params: { path: { id_or_domain: String(id) } },
        body: {
          interval,
          type: type as typeof GLOBAL,
          ...(type === 'keyword' ? { keyword } : { keyword: GLOBAL }),
        },
      }),
    );
    showToast(t.monitors.saved);
    refreshed(id);
    close();
  };
  return (
    <Form onSubmit={save}>
      <SelectField
        label={t.settings.every}
        name="interval"
        value={interval}
        onChange={setInterval}
        options={[
          [GLOBAL, t.monitors.global],
          ...[...new Set([...INTERVALS, own.interval])].map((one) => [one, t.monitors.frequency(one)] as const),
        ]}
      />
      <SelectField
        label={t.monitors.kind}
        name="type"
        value={type}
        onChange={setType}
        options={[
          ...KINDS.map((one) => [one, t.monitors.kinds[one]] as const),
          ...(KINDS.some((one) => one === type) ? [] : [[type, type] as const]),
        ]}
      />
      {type === 'keyword' && (
        <TextField label={t.monitors.keyword} name="keyword" value={keyword} onInput={setKeyword} required />
      )}
      <FormEnd send={t.save} cancel={close} />
    </Form>
  );
}

function Maintenance({ id, until }: { id: number; until: string | null }) {
  const [hours, setHours] = useState('2');
  const set = (minutes: number) => () =>
    trying(async () => {
      const { message } = await answer(
        api.POST('/monitors/{id_or_domain}/maintenance', {
          params: { path: { id_or_domain: String(id) } },
          body: { minutes },
        }),
      );
      refreshed(id);
      return message;
    });
  return (
    <section class="form apart">
      <h3>{t.monitors.maintenance}</h3>
      {until === null ? (
        <>
          <p class="hint">{t.monitors.maintenanceText}</p>
          <SelectField
            label={t.monitors.maintenanceFor}
            value={hours}
            onChange={setHours}
            options={HOURS.map((count) => [String(count), t.aside.span(count)] as const)}
          />
          <div class="row">
            <Button small icon={Wrench} onClick={set(60 * Number(hours))}>
              {t.monitors.startMaintenance}
            </Button>
          </div>
        </>
      ) : (
        <>
          <p>
            {t.monitors.maintenanceUntil} <Time iso={until} />
          </p>
          <div class="row">
            <Button small icon={Wrench} onClick={set(0)}>
              {t.monitors.endMaintenance}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

type Windows = { day: (typeof DAYS)[number]; from: string; to: string }[];

/** Maintenance that returns each week, on the clock of the site. */
function Weekly({ id }: { id: number }) {
  const at = { params: { path: { id_or_domain: String(id) } } };
  const [day, setDay] = useState<string>('sun');
  const from = useText('02:00');
  const to = useText('04:00');
  const saved = useLoad(`site:${id}:windows`, (signal) =>
    answer(api.GET('/monitors/{id_or_domain}/windows', { ...at, signal })).then(({ data }) => data),
  );
  const save = (windows: Windows) =>
    trying(async () => {
      const body = { windows: windows.map((one) => `${one.day} ${one.from}-${one.to}`) };
      const { message } = await answer(api.PUT('/monitors/{id_or_domain}/windows', { ...at, body }));
      refreshed(id);
      return message;
    });
  return (
    <section class="form apart">
      <h3>{t.monitors.weekly}</h3>
      <Loaded of={saved}>
        {({ windows, zone }) => (
          <>
            <p class="hint">{t.monitors.weeklyText(zone)}</p>
            {windows.length > 0 && (
              <ul class="lines">
                {windows.map((one) => (
                  <li key={`${one.day} ${one.from}-${one.to}`} class="row">
                    <span>{t.monitors.weeklyOn(dayName(one.day), one.from, one.to)}</span>
                    <Button
                      small
                      kind="quiet"
                      icon={X}
                      label={t.monitors.withoutWeekly(dayName(one.day), one.from, one.to)}
                      onClick={() => save(windows.filter((other) => other !== one))}
                    >
                      {t.remove}
                    </Button>
                  </li>
                ))}
              </ul>
            )}
            <div class="row ends">
              <SelectField
                label={t.monitors.weeklyDay}
                value={day}
                onChange={setDay}
                options={DAYS.map((one) => [one, dayName(one)] as const)}
              />
              <TextField label={t.recipients.quietFrom} type="time" {...from} />
              <TextField label={t.recipients.quietTo} type="time" {...to} />
              <Button
                small
                icon={Plus}
                onClick={() => save([...windows, { day: day as 'sun', from: from.value, to: to.value }])}
              >
                {t.monitors.addWeekly}
              </Button>
            </div>
          </>
        )}
      </Loaded>
    </section>
  );
}
