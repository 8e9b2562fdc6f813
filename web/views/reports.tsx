/** Reports: one site over a range of days, as a printable page. */

import { FileText } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { LinkButton } from '../parts/button.js';
import { SelectField, TextField } from '../parts/field.js';
import { Card, Page } from '../parts/page.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';

const dayOf = (date: Date) =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;

/** The last full month in the reader's time zone: first and last day. */
function lastMonth(): [string, string] {
  const now = new Date();
  return [
    dayOf(new Date(now.getFullYear(), now.getMonth() - 1, 1)),
    dayOf(new Date(now.getFullYear(), now.getMonth(), 0)),
  ];
}

export function Reports() {
  const [search, setSearch] = useState('');
  const [site, setSite] = useState('');
  const [[from, to], setRange] = useState(lastMonth);
  const sites = useLoad(
    `reports:sites:${search}`,
    (signal) =>
      answer(
        api.GET('/fleet/sites', {
          params: { query: { ...(search === '' ? {} : { search }), columns: ['id', 'name'], per_page: 100 } },
          signal,
        }),
      ),
    { keepShown: true },
  );
  const rows = (sites.data?.rows ?? []).map(([id, name]) => [String(id), String(name)] as const);
  const more = (sites.data?.total ?? 0) - rows.length;
  const chosen = rows.some(([id]) => id === site) ? site : (rows[0]?.[0] ?? '');
  const href = `/v2/pro-reports/${chosen}/report?start_date=${from}&end_date=${to}`;
  const valid = chosen !== '' && from !== '' && to !== '' && from <= to;
  return (
    <Page title={t.nav.reports} about={t.reports.about}>
      <Card>
        <Loaded of={sites}>
          {() => (
            <div class="form">
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
