/** The sites: a table with server-side pages and live search, with filters, order and a choice of columns. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { useStore } from '../api/store.js';
import { Button, LinkButton } from '../parts/button.js';
import { Check, SearchField, SelectField } from '../parts/field.js';
import { FilterBar } from '../parts/filter-bar.js';
import { Icon } from '../parts/icon.js';
import { Columns3, Globe, Plus, Search } from '../parts/icons.js';
import { OwnerField } from '../parts/owners.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { listOf, pageIn, pageOf, type Query, useQuery, useTyped } from '../parts/query.js';
import { SortChoice, SortHead } from '../parts/sort.js';
import { Empty, Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { AddSiteDialog } from './add-site.js';
import { SavedViews } from './saved-views.js';
import { ActionBar } from './sites-actions.js';
import {
  askedColumns,
  Cell,
  COLUMNS,
  type Column,
  chooseColumns,
  FALLING,
  ORDERS,
  STANDARD,
  shownColumns,
} from './sites-columns.js';

const PER_PAGE = 50;
/** Filters set by links from other views; each shows as a removable tag. */
const TAGS = [
  'monitor',
  'certificate_days',
  'domain_days',
  'not_synced_days',
  'has_update',
  'level',
  'php_below',
  'wp_below',
  'vulnerable',
  'guarded',
] as const;
/** Members of the address that are filters, besides the search. */
const NAMED = [...TAGS, 'status', 'client_ids', 'tag_ids'] as const;
/** Filters that are offered by name: a member of the query and its value. */
export const OFFERED = [
  ['monitor', 'down'],
  ['vulnerable', '1'],
  ['guarded', '0'],
  ['php_below', '8.1'],
  ['php_below', '8.3'],
  ['certificate_days', '14'],
  ['domain_days', '30'],
  ['not_synced_days', '7'],
] as const;

type Order = (typeof ORDERS)[number];

/** The service's query for the address; invalid parts of an address are ignored. */
function askedOf(query: Query) {
  const ids = (text: string | undefined) => listOf(text).map(Number).filter(Number.isInteger);
  const days = (text: string | undefined) => (text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : undefined);
  const orderby = ORDERS.includes(query.orderby as Order) ? (query.orderby as Order) : 'name';
  const one = <T extends string>(text: string | undefined, of: readonly T[]) => of.find((word) => word === text);
  const version = (text: string | undefined) => (text !== undefined && /^\d[\d.]{0,20}$/.test(text) ? text : undefined);
  const yes = (text: string | undefined) => (text === '1' ? true : text === '0' ? false : undefined);
  const many = <T extends string>(text: string | undefined, of: readonly T[]) =>
    of.filter((word) => listOf(text).includes(word));
  return {
    search: query.search ?? '',
    status: one(query.status, ['connected', 'disconnected', 'suspended'] as const) ?? ('any' as const),
    tag_ids: ids(query.tag_ids),
    client_ids: ids(query.client_ids),
    has_update: many(query.has_update, ['core', 'plugins', 'themes', 'translations'] as const),
    level: many(query.level, ['patch', 'minor', 'major'] as const),
    monitor: one(query.monitor, ['up', 'down', 'pending', 'paused', 'unknown'] as const),
    certificate_days: days(query.certificate_days),
    domain_days: days(query.domain_days),
    not_synced_days: days(query.not_synced_days),
    php_below: version(query.php_below),
    wp_below: version(query.wp_below),
    vulnerable: yes(query.vulnerable),
    guarded: yes(query.guarded),
    orderby,
    order: query.order === 'desc' ? ('desc' as const) : ('asc' as const),
  };
}
/** The column of the status shows the worse of it and the monitor's state, and is sorted by that. */
const ordered = ({ orderby }: Asked) => (orderby === 'status' ? ('state' as const) : orderby);
export type Asked = ReturnType<typeof askedOf>;

/** Without the members that filter nothing: an empty list would be sent as an empty text. */
export function sent(asked: Asked): { [K in keyof Asked]?: NonNullable<Asked[K]> } {
  return Object.fromEntries(
    Object.entries(asked).filter(
      ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

export function Sites() {
  const [query, change] = useQuery();
  const columns = useStore(shownColumns);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [allMatching, setAllMatching] = useState(false);
  const [adding, setAdding] = useState(false);
  const write = useMayWrite();
  const asked = askedOf(query);
  const page = pageOf(query);
  const wanted = askedColumns(columns);
  const key = `sites:${JSON.stringify([asked, wanted, page])}`;
  const found = useLoad(
    key,
    (signal) =>
      answer(
        api.GET('/fleet/sites', {
          params: {
            query: { ...sent(asked), orderby: ordered(asked), columns: [...wanted], page, per_page: PER_PAGE },
          },
          signal,
        }),
      ),
    { keepShown: true },
  );
  useLiveRefresh(['site', 'updates', 'alert'], 'sites:', 2500);
  const [typed, setTyped] = useTyped(query.search ?? '', (search) => change({ search, page: undefined }, true));
  const filter = (members: Record<string, string | undefined>) => {
    setChosen(new Set());
    setAllMatching(false);
    change({ ...members, page: undefined });
  };
  const taken = NAMED.filter((name) => query[name] !== undefined).length;
  const set = (ids: readonly number[], on: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    setAllMatching(false);
    setChosen(next);
  };

  return (
    <Page
      title={t.nav.sites}
      about={found.data && t.sites.found(number(found.data.total))}
      actions={
        <>
          <SavedViews query={query} columns={columns} />
          {write && (
            <Button icon={Plus} kind="main" onClick={() => setAdding(true)}>
              {t.sites.add}
            </Button>
          )}
        </>
      }
    >
      {write && (adding || query.add !== undefined) && (
        <AddSiteDialog
          close={() => {
            setAdding(false);
            if (query.add !== undefined) change({ add: undefined }, true);
          }}
        />
      )}
      <FilterBar search={<SearchField label={t.sites.search} value={typed} onInput={setTyped} />} set={taken}>
        <SelectField
          hidden
          label={t.sites.status}
          value={query.status ?? ''}
          onChange={(status) => filter({ status })}
          options={[
            ['', t.sites.anyStatus],
            ['connected', t.siteStatus.connected],
            ['disconnected', t.siteStatus.disconnected],
            ['suspended', t.siteStatus.suspended],
          ]}
        />
        <SelectField
          hidden
          label={t.sites.updates}
          value={query.has_update ?? ''}
          onChange={(has_update) => filter({ has_update })}
          options={[
            ['', t.sites.anyUpdates],
            ['core,plugins,themes,translations', t.sites.withUpdates],
            ['core', t.updateType.core],
            ['plugins', t.updateType.plugins],
            ['themes', t.updateType.themes],
          ]}
        />
        <OwnerField
          hidden
          kind="clients"
          label={t.sites.client}
          any={t.sites.anyClient}
          value={query.client_ids ?? ''}
          onChange={(client_ids) => filter({ client_ids })}
        />
        <OwnerField
          hidden
          kind="tags"
          label={t.sites.tag}
          any={t.sites.anyTag}
          value={query.tag_ids ?? ''}
          onChange={(tag_ids) => filter({ tag_ids })}
        />
        <SelectField
          hidden
          label={t.sites.more}
          value=""
          onChange={(chosen) => {
            const [name, value] = chosen.split('=');
            if (name) filter({ [name]: value });
          }}
          options={[
            ['', t.sites.more],
            ...OFFERED.map(([name, value]) => [`${name}=${value}`, t.sites.filter(name, value)] as const),
          ]}
        />
        <SortChoice
          of={asked}
          sort={(next) => change({ ...next })}
          options={ORDERS.map((one) => [one, t.sites.column[one]] as const)}
          falling={FALLING}
        />
        <ColumnChoice columns={columns} />
      </FilterBar>
      <Taken query={query} filter={filter} />
      <Loaded of={found} rows={10}>
        {(data) =>
          data.total === 0 ? (
            <NoSites
              filtered={taken > 0 || query.search !== undefined}
              write={write}
              clear={() => change(cleared(query))}
            />
          ) : (
            <>
              {write && (
                <ActionBar
                  chosen={chosen}
                  all={allMatching ? { asked, total: data.total } : null}
                  matching={data.total}
                  chooseAll={() => setAllMatching(true)}
                  clear={() => {
                    setChosen(new Set());
                    setAllMatching(false);
                  }}
                />
              )}
              <Table
                rows={data.rows.map((row) => recordOf(data.columns, row))}
                columns={columns}
                asked={asked}
                sort={change}
                chosen={write ? chosen : null}
                all={allMatching}
                set={set}
              />
              <Pager page={page} perPage={PER_PAGE} total={data.total} go={pageIn(change)} />
              {data.unknown !== undefined && data.unknown > 0 && (
                <p class="note small">{t.sites.unknown(data.unknown)}</p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const cleared = (query: Query) => Object.fromEntries(Object.keys(query).map((name) => [name, undefined]));

export type SiteRecord = Record<string, string | number | boolean | null> & { id: number; name: string; url: string };

/** A row by its columns. */
export function recordOf(columns: readonly string[], row: readonly (string | number | boolean | null)[]): SiteRecord {
  return Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])) as SiteRecord;
}

interface TableProps {
  rows: readonly SiteRecord[];
  columns: readonly Column[];
  asked: Asked;
  sort: (next: { orderby: string; order: string }) => void;
  /** null = sites cannot be chosen. */
  chosen: ReadonlySet<number> | null;
  all: boolean;
  set: (ids: readonly number[], on: boolean) => void;
}

function Table({ rows, columns, asked, sort, chosen, all, set }: TableProps) {
  const ids = rows.map(({ id }) => id);
  const on = (id: number) => all || (chosen?.has(id) ?? false);
  const heading = (by: Order, word: string) => (
    <SortHead key={by} by={by} word={word} of={asked} sort={sort} falling={FALLING.includes(by)} />
  );
  return (
    <div class="scroll">
      <table class={columns.join() === STANDARD.join() ? 'list sites short' : 'list sites'}>
        <thead>
          <tr>
            {chosen && (
              <th class="pick" scope="col">
                <Check
                  hidden
                  label={t.sites.chooseAll}
                  checked={ids.every(on)}
                  onChange={(checked) => set(ids, checked)}
                />
              </th>
            )}
            {heading('name', t.sites.column.name)}
            {columns.map((column) => heading(column, t.sites.column[column]))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} class={on(row.id) ? 'on' : ''}>
              {chosen && (
                <td class="pick">
                  <Check
                    hidden
                    label={t.sites.choose(row.name)}
                    checked={on(row.id)}
                    onChange={(checked) => set([row.id], checked)}
                  />
                </td>
              )}
              <th scope="row">
                <a href={`/sites/${row.id}`}>{row.name}</a>
                <span class="address">{t.address(row.url)}</span>
              </th>
              {columns.map((column) => (
                <td key={column} class={column} data-label={t.sites.column[column]}>
                  <Cell column={column} row={row} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Taken({ query, filter }: { query: Query; filter: (members: Record<string, string | undefined>) => void }) {
  const taken = TAGS.filter((name) => query[name] !== undefined && name !== 'has_update');
  if (taken.length === 0) return null;
  return (
    <div class="taken">
      {taken.map((name) => (
        <Button
          key={name}
          small
          onClick={() => filter({ [name]: undefined })}
          label={t.sites.without(t.sites.filter(name, query[name] ?? ''))}
        >
          {`${t.sites.filter(name, query[name] ?? '')} ×`}
        </Button>
      ))}
    </div>
  );
}

function NoSites({ filtered, write, clear }: { filtered: boolean; write: boolean; clear: () => void }) {
  return filtered ? (
    <Empty icon={Search} title={t.sites.nothingFits}>
      <Button onClick={clear}>{t.sites.clearFilters}</Button>
    </Empty>
  ) : (
    <Empty icon={Globe} title={t.now.noSites}>
      <p>{t.now.noSitesText}</p>
      {write && (
        <LinkButton kind="main" href="/start" icon={Plus}>
          {t.now.addSites}
        </LinkButton>
      )}
    </Empty>
  );
}

function ColumnChoice({ columns }: { columns: readonly Column[] }) {
  return (
    <details class="menu">
      <summary class="button plain">
        <Icon of={Columns3} />
        <span>{t.sites.columns}</span>
      </summary>
      <div class="sheet">
        {COLUMNS.map((column) => (
          <Check
            key={column}
            label={t.sites.column[column]}
            checked={columns.includes(column)}
            onChange={(on) => chooseColumns(COLUMNS.filter((one) => (one === column ? on : columns.includes(one))))}
          />
        ))}
        <Button small onClick={() => chooseColumns(STANDARD)}>
          {t.sites.standardColumns}
        </Button>
      </div>
    </details>
  );
}
