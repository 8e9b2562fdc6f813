/** Clients: the owners of the sites. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { SearchField } from '../parts/field.js';
import { Building2, CirclePause, Plus } from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { pageIn, pageOf, useQuery, useTyped } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { Client } from './client.js';
import { EditClient } from './client-dialog.js';
import { GuidanceCard } from './guidance.js';

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
      {query.id !== undefined && (
        <>
          <Client id={query.id} key={query.id} close={() => change({ id: undefined })} />
          <GuidanceCard key={`guidance ${query.id}`} of={{ client: Number(query.id) }} />
        </>
      )}
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
      {write && (adding || query.add !== undefined) && (
        <EditClient
          close={() => {
            setAdding(false);
            if (query.add !== undefined) change({ add: undefined }, true);
          }}
        />
      )}
    </Page>
  );
}
