/** Clients: the owners of the sites. */

import { Building2, CirclePause, CirclePlay, Pencil, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { SearchField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Card, Page } from '../parts/page.js';
import { pageIn, pageOf, useQuery, useTyped } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { number } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Facts } from './site-overview.js';
import { recordOf } from './sites.js';
import { askedColumns, Cell } from './sites-columns.js';

const PER_PAGE = 50;

export function Clients() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const write = useMayWrite();
  const [adding, setAdding] = useState(false);
  const [typed, setTyped] = useTyped(query.search ?? '', (search) => change({ search, page: undefined }, true));
  const asked = { ...(query.search === undefined ? {} : { search: query.search }), page, per_page: PER_PAGE };
  const clients = useLoad(
    `clients:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/clients', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  return (
    <Page
      title={t.nav.clients}
      about={clients.data && t.clients.count(number(clients.data.total))}
      actions={
        write && (
          <Button kind="main" icon={Plus} onClick={() => setAdding(true)}>
            {t.clients.add}
          </Button>
        )
      }
    >
      {query.id !== undefined && <Client id={query.id} key={query.id} close={() => change({ id: undefined })} />}
      <search class="filters">
        <SearchField label={t.clients.search} value={typed} onInput={setTyped} />
      </search>
      <Loaded of={clients}>
        {({ data, total }) =>
          total === 0 ? (
            <Empty icon={Building2} title={query.search === undefined ? t.clients.none : t.sites.nothingFits}>
              {query.search === undefined && <p>{t.clients.noneText}</p>}
            </Empty>
          ) : (
            <Table
              heads={[t.clients.name, t.clients.email, t.nav.sites]}
              pages={{ page, perPage: PER_PAGE, total, go: pageIn(change) }}
            >
              {data.map((client) => (
                <tr key={client.id} class={String(client.id) === query.id ? 'on' : ''}>
                  <th scope="row">
                    <a href={`/clients?id=${client.id}`}>{client.name}</a>
                    {client.status === 'suspended' && (
                      <Badge tone="idle" icon={CirclePause}>
                        {t.siteStatus.suspended}
                      </Badge>
                    )}
                  </th>
                  <td data-label={t.clients.email}>{client.email}</td>
                  <td data-label={t.nav.sites}>
                    <a href={`/sites?client_ids=${client.id}`}>{number(client.sites_count)}</a>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      {adding && <Edit close={() => setAdding(false)} />}
    </Page>
  );
}

function Client({ id, close }: { id: string; close: () => void }) {
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
                [t.clients.costs, <Costs key="costs" id={id} />],
              ]}
            />
            {editing && <Edit client={data} close={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
      <ClientSites id={id} />
    </Card>
  );
}

const SHOWN = ['status', 'monitor', 'updates', 'vulnerabilities', 'last_sync'] as const;
const MOST_SITES = 50;

/** The sites of a client with their state, as of what is stored. */
function ClientSites({ id }: { id: string }) {
  const sites = useLoad(`clients:sites:${id}`, (signal) => {
    const query = { client_ids: [Number(id)], columns: [...askedColumns(SHOWN)], per_page: MOST_SITES };
    return answer(api.GET('/fleet/sites', { params: { query }, signal }));
  });
  return (
    <Loaded of={sites}>
      {({ columns, rows, total }) =>
        total === 0 ? (
          <p class="muted">{t.clients.noSites}</p>
        ) : (
          <>
            <Table heads={[t.sites.column.name, ...SHOWN.map((column) => t.sites.column[column])]}>
              {rows.map((cells) => {
                const row = recordOf(columns, cells);
                return (
                  <tr key={row.id}>
                    <th scope="row">
                      <a href={`/sites/${row.id}`}>{row.name}</a>
                    </th>
                    {SHOWN.map((column) => (
                      <td key={column} data-label={t.sites.column[column]}>
                        <Cell column={column} row={row} />
                      </td>
                    ))}
                  </tr>
                );
              })}
            </Table>
            {total > rows.length && <a href={`/sites?client_ids=${id}`}>{t.now.more(number(total - rows.length))}</a>}
          </>
        )
      }
    </Loaded>
  );
}

function Costs({ id }: { id: string }) {
  const costs = useLoad(`clients:costs:${id}`, (signal) =>
    answer(api.GET('/clients/{id_or_email}/costs', { params: { path: { id_or_email: id } }, signal })),
  );
  if (costs.data === undefined) return <>–</>;
  return <>{costs.data.total === 0 ? '–' : t.clients.perMonth(costs.data.total_monthly)}</>;
}

interface Known {
  id: number;
  name: string;
  email: string;
  phone: string;
  note: string;
}

function Edit({ client, close }: { client?: Known; close: () => void }) {
  const name = useText(client?.name);
  const email = useText(client?.email);
  const phone = useText(client?.phone);
  const note = useText(client?.note);
  const save = async () => {
    const given = { client_email: email.value, client_phone: phone.value, note: note.value };
    // For an existing client, an empty field clears the stored value.
    const details = client ? given : Object.fromEntries(Object.entries(given).filter(([, text]) => text !== ''));
    const body = { name: name.value, ...details };
    const { message } = await (client === undefined
      ? answer(api.POST('/clients/add', { body }))
      : answer(
          api.POST('/clients/{id_or_email}/edit', { params: { path: { id_or_email: String(client.id) } }, body }),
        ));
    showToast(message);
    close();
    refresh('clients:', 'owners:');
  };
  return (
    <Dialog title={client === undefined ? t.clients.add : client.name} onClose={close}>
      <Form onSubmit={save}>
        <TextField label={t.clients.name} name="name" {...name} required />
        <TextField label={t.clients.email} name="client_email" type="email" {...email} />
        <TextField label={t.clients.phone} name="client_phone" {...phone} />
        <TextField label={t.clients.note} name="note" {...note} />
        <FormEnd send={t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
