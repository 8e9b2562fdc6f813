/** One client: its record, the state of its sites, what is available for them, what they cost, the time worked, and reports. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button, DeleteButton, LinkButton } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { distinctNames } from '../parts/distinct.js';
import { CirclePause, CirclePlay, FileText, Pencil } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { format, number } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { EditClient } from './client-dialog.js';
import { lastMonth, reportAddress } from './report-range.js';
import { Facts } from './site-overview.js';
import { recordOf } from './sites.js';
import { askedColumns, Cell } from './sites-columns.js';

export function Client({ id, close }: { id: string; close: () => void }) {
  const write = useMayWrite();
  const [editing, setEditing] = useState(false);
  const at = { params: { path: { id_or_email: id } } };
  const [asking, setAsking] = useState<'suspend' | 'delete' | null>(null);
  const client = useLoad(`clients:one:${id}`, (signal) =>
    answer(api.GET('/clients/{id_or_email}', { ...at, signal })).then(({ data }) => data),
  );
  const done = async (work: Promise<{ message: string }>) => {
    const { message } = await work;
    refresh('clients:', 'owners:', 'sites:', 'site:', 'now:');
    return message;
  };
  const unsuspend = () => done(answer(api.POST('/clients/{id_or_email}/unsuspend', at)));
  const suspend = () => trying(() => done(answer(api.POST('/clients/{id_or_email}/suspend', at))), unsuspend);
  const remove = async () => {
    if (await trying(() => done(answer(api.DELETE('/clients/{id_or_email}/remove', at))))) close();
  };
  return (
    <Card
      title={client.data?.name ?? t.loading}
      actions={
        <div class="row">
          {write && (
            <Button small icon={Pencil} disabled={client.data === undefined} onClick={() => setEditing(true)}>
              {t.edit}
            </Button>
          )}
          {write && client.data?.status === 'suspended' && (
            <Button small icon={CirclePlay} onClick={() => trying(unsuspend)}>
              {t.sites.unsuspend}
            </Button>
          )}
          {write && client.data !== undefined && client.data.status !== 'suspended' && (
            <Button small icon={CirclePause} onClick={() => setAsking('suspend')}>
              {t.sites.suspend}
            </Button>
          )}
          {write && client.data !== undefined && (
            <DeleteButton name={client.data.name} onClick={() => setAsking('delete')} />
          )}
          <LinkButton small href={`/reports?client=${id}`} icon={FileText}>
            {t.nav.reports}
          </LinkButton>
          <Button small onClick={close}>
            {t.close}
          </Button>
        </div>
      }
    >
      {asking === 'suspend' && client.data !== undefined && (
        <Confirm
          title={t.clients.suspendTitle(client.data.name)}
          text={t.sites.suspendText}
          word={t.sites.suspend}
          icon={CirclePause}
          onConfirm={suspend}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'delete' && client.data !== undefined && (
        <Confirm
          title={t.clients.deleteTitle(client.data.name)}
          text={t.clients.deleteText}
          onConfirm={remove}
          onClose={() => setAsking(null)}
        />
      )}
      <Loaded of={client}>
        {(data) => (
          <>
            <Facts
              rows={[
                [t.clients.email, data.email || '–'],
                [t.clients.phone, data.phone || '–'],
                [t.clients.note, data.note || '–'],
                [t.nav.updates, <Offers key="updates" id={id} />],
                [t.clients.costs, <Costs key="costs" id={id} />],
                [t.clients.time, <Hours key="time" id={id} />],
                [
                  t.clients.lastReport,
                  <span key="report">
                    – <span class="muted small">{t.clients.noneKept}</span>
                  </span>,
                ],
              ]}
            />
            {editing && <EditClient client={data} close={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
      <ClientSites id={id} />
    </Card>
  );
}

const SHOWN = ['status', 'monitor', 'updates', 'vulnerabilities', 'last_sync'] as const;
const MOST_SITES = 50;

/** The sites of a client with their state, as of what is stored; those that do not work come first. */
function ClientSites({ id }: { id: string }) {
  const sites = useLoad(`clients:sites:${id}`, (signal) => {
    const query = {
      client_ids: [Number(id)],
      columns: [...askedColumns(SHOWN)],
      orderby: 'state' as const,
      per_page: MOST_SITES,
    };
    return answer(api.GET('/fleet/sites', { params: { query }, signal }));
  });
  const month = lastMonth();
  const report = `${t.reports.one}, ${format().month.format(new Date(`${month[0]}T00:00`))}`;
  return (
    <Loaded of={sites}>
      {({ columns, rows, total }) => {
        const records = rows.map((cells) => recordOf(columns, cells));
        const nameOf = distinctNames(records);
        return total === 0 ? (
          <p class="muted">{t.clients.noSites}</p>
        ) : (
          <>
            <Table heads={[t.sites.column.name, ...SHOWN.map((column) => t.sites.column[column]), report]}>
              {records.map((row) => (
                <tr key={row.id}>
                  <th scope="row">
                    <a href={`/sites/${row.id}`}>{nameOf(row)}</a>
                  </th>
                  {SHOWN.map((column) => (
                    <td key={column} data-label={t.sites.column[column]}>
                      <Cell column={column} row={row} />
                    </td>
                  ))}
                  <td data-label={report}>
                    <a
                      href={reportAddress(row.id, ...month)}
                      target="_blank"
                      rel="noopener"
                      aria-label={`${report}: ${nameOf(row)}`}
                    >
                      {t.reports.one}
                    </a>
                  </td>
                </tr>
              ))}
            </Table>
            {total > rows.length && <a href={`/sites?client_ids=${id}`}>{t.now.more(number(total - rows.length))}</a>}
          </>
        );
      }}
    </Loaded>
  );
}

const at = (id: string) => ({ params: { path: { id_or_email: id } } });

/** What the plan of updates has for the sites of the client. */
function Offers({ id }: { id: string }) {
  const plan = useLoad(`clients:updates:${id}`, (signal) => {
    const query = { client_ids: [Number(id)], per_page: 1, items_per_page: 1 };
    return answer(api.GET('/fleet/updates/plan', { params: { query }, signal }));
  });
  const totals = plan.data?.totals;
  if (totals === undefined || totals.updates === 0) return <>–</>;
  return (
    <a href={`/updates/plan?client=${id}&type=core,plugin,theme,translation`}>
      {t.plan.sum(totals.updates, totals.sites)}
    </a>
  );
}

/** Costs and time are modules, which can be switched off. */
function Costs({ id }: { id: string }) {
  const costs = useLoad(`clients:costs:${id}`, (signal) =>
    answer(api.GET('/clients/{id_or_email}/costs', { ...at(id), signal })),
  );
  const settings = useLoad('settings:cost-tracker', (signal) =>
    answer(api.GET('/settings/cost-tracker', { signal })).then(({ data }) => data),
  );
  if (costs.data === undefined || costs.data.total === 0) return <>–</>;
  return <>{t.clients.perMonth(costs.data.total_monthly, settings.data?.currency ?? '')}</>;
}

function Hours({ id }: { id: string }) {
  const time = useLoad(`clients:time:${id}`, (signal) =>
    answer(api.GET('/time-tracker/clients/{id_or_email}', { ...at(id), signal })).then(({ data }) => data),
  );
  if (time.data === undefined || time.data.tasks_count === 0) return <>–</>;
  const { duration_seconds, tasks_count, unbilled_total } = time.data;
  return (
    <>{t.clients.worked(duration_seconds, tasks_count, unbilled_total === 0 ? null : unbilled_total.toFixed(2))}</>
  );
}
