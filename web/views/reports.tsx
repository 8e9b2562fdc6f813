/** Reports: one site over a range of days, as a printable page. The sites can be those of one client. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { LinkButton } from '../parts/button.js';
import { distinctNames } from '../parts/distinct.js';
import { SelectField, TextField } from '../parts/field.js';
import { FileText } from '../parts/icons.js';
import { OwnerField } from '../parts/owners.js';
import { Card, Page } from '../parts/page.js';
import { useQuery } from '../parts/query.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { lastMonth, rangeIn, reportAddress } from './report-range.js';

export function Reports() {
  const [query, change] = useQuery();
  const client = /^\d{1,9}$/.test(query.client ?? '') ? Number(query.client) : undefined;
  const [search, setSearch] = useState('');
  const [site, setSite] = useState('');
  const [[from, to], setRange] = useState(() => rangeIn(query) ?? lastMonth());
  const sites = useLoad(
    `reports:sites:${client ?? ''}:${search}`,
    (signal) => {
      const asked = {
        ...(search === '' ? {} : { search }),
        ...(client === undefined ? {} : { client_ids: [client] }),
        columns: ['id' as const, 'name' as const, 'url' as const],
        per_page: 100,
      };
      return answer(api.GET('/fleet/sites', { params: { query: asked }, signal }));
    },
    { keepShown: true },
  );
  const named = (sites.data?.rows ?? []).map(([id, name, url]) => ({ id, name: String(name), url: String(url) }));
  const nameOf = distinctNames(named);
  const rows = named.map((one) => [String(one.id), nameOf(one)] as const);
  const more = (sites.data?.total ?? 0) - rows.length;
  const chosen = rows.some(([id]) => id === site) ? site : (rows[0]?.[0] ?? '');
  const href = reportAddress(chosen, from, to);
  const valid = chosen !== '' && from !== '' && to !== '' && from <= to;
  return (
    <Page title={t.nav.reports} about={t.reports.about}>
      <Card>
        <Loaded of={sites}>
          {() => (
            <div class="form">
              <OwnerField
                kind="clients"
                label={t.sites.client}
                any={t.sites.anyClient}
                value={client === undefined ? '' : String(client)}
                onChange={(next) => change({ client: next }, true)}
              />
              <TextField label={t.sites.search} type="search" value={search} onInput={setSearch} />
              <SelectField
                label={t.reports.site}
                value={chosen}
                onChange={setSite}
                options={rows.length === 0 ? [['', t.sites.nothingFits]] : rows}
                hint={more > 0 ? t.owners.first(number(rows.length), number(rows.length + more)) : ''}
              />
              <label class="field">
                <span>{t.reports.from}</span>
                <input
                  type="date"
                  value={from}
                  max={to}
                  onInput={(event) => setRange([event.currentTarget.value, to])}
                />
              </label>
              <label class="field">
                <span>{t.reports.to}</span>
                <input
                  type="date"
                  value={to}
                  min={from}
                  onInput={(event) => setRange([from, event.currentTarget.value])}
                />
              </label>
              {valid ? (
                <LinkButton kind="main" icon={FileText} href={href} outside>
                  {t.reports.open}
                </LinkButton>
              ) : (
                <p class="muted">{t.reports.incomplete}</p>
              )}
            </div>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}
