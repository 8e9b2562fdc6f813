/** The plan of updates: sites by items, coloured by risk, with a tick for each, and what all that is ticked comes to. */

import { CircleCheckBig, OctagonX, PackageCheck, ShieldAlert, ShieldOff, X } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { useStore } from '../api/store.js';
import { Badge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Check, SearchField, SelectField } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { listOf, pageOf, type Query, useQuery, useTyped } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { type Choice, choice, EVERYTHING, keyOf, type LeftItem, setItem, setSite } from './plan-choice.js';
import { startRun } from './starting-run.js';
import { REST_TYPE, TYPES } from './update-item.js';
import { useUpdateSettings } from './update-settings.js';
import { UpdateTabs } from './update-tabs.js';

type Plan = paths['/fleet/updates/plan']['get']['responses'][200]['content']['application/json'];
type PlanItem = Plan['items'][number];
type PlanSite = Plan['data'][number];
type PlanCell = PlanSite['cells'][number];

/** The window of the matrix. */
const SITES = 50;
const ITEMS = 25;
const LEVELS = ['patch', 'minor', 'major'] as const;
/** WordPress itself cannot be rolled back: it is chosen on purpose. */
const STANDARD = TYPES.filter((type) => type !== 'core');
/** Quick ticks are counted together. */
const COUNT_MS = 150;

/** The choices of the address; what is wrong in it is ignored. */
function filtersOf(query: Query) {
  const id = (text: string | undefined) => (text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined);
  const chosen = <T extends string>(text: string | undefined, of: readonly T[], otherwise: readonly T[]) => {
    const found = of.filter((one) => listOf(text).includes(one));
    return found.length === 0 ? otherwise : found;
  };
  return {
    types: chosen(query.type, TYPES, STANDARD),
    levels: chosen(query.level, LEVELS, LEVELS),
    tag: id(query.tag),
    without: id(query.without),
    search: query.search ?? '',
  };
}
type Filters = ReturnType<typeof filtersOf>;

/** Filters that both the plan and the run take. */
function narrowed({ levels, tag, without, search }: Filters) {
  return {
    ...(levels.length === LEVELS.length ? {} : { level: [...levels] }),
    ...(tag === undefined ? {} : { tag_ids: [tag] }),
    ...(without === undefined ? {} : { exclude_tag_ids: [without] }),
    ...(search === '' ? {} : { search }),
  };
}

/** The run of what is ticked. */
function bodyOf(filters: Filters, { items, sites }: Choice) {
  const left = [...items.values()].map(({ name: _, ...item }) => item);
  return {
    type: filters.types.map((type) => REST_TYPE[type]),
    ...narrowed(filters),
    ...(sites.size === 0 ? {} : { exclude: [...sites.keys()] }),
    ...(left.length === 0 ? {} : { exclude_items: left }),
  };
}

export function UpdatePlan() {
  const [query, change] = useQuery();
  const filters = filtersOf(query);
  const page = pageOf(query);
  const itemPage = pageOf({ page: query.items ?? '' });
  const asked = {
    type: [...filters.types],
    ...narrowed(filters),
    page,
    per_page: SITES,
    item_page: itemPage,
    items_per_page: ITEMS,
  };
  const plan = useLoad(
    `updates:plan:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/fleet/updates/plan', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['updates', 'site', 'alert'], 'updates:plan:', 3000);
  const filter = (members: Record<string, string | undefined>) =>
    change({ ...members, page: undefined, items: undefined });
  const go = (name: 'page' | 'items') => (to: number) => change({ [name]: to === 1 ? undefined : String(to) });
  return (
    <Page title={t.plan.title} about={t.plan.about}>
      <UpdateTabs at="plan" />
      <Choices query={query} filters={filters} filter={filter} />
      <Loaded of={plan} rows={8}>
        {(data) =>
          data.total === 0 ? (
            <Empty icon={CircleCheckBig} title={Object.keys(query).length > 0 ? t.updates.noneFits : t.plan.none}>
              {Object.keys(query).length > 0 && (
                <Button onClick={() => change(Object.fromEntries(Object.keys(query).map((name) => [name, undefined])))}>
                  {t.sites.clearFilters}
                </Button>
              )}
            </Empty>
          ) : (
            <>
              <Total plan={data} filters={filters} stale={plan.loading} />
              <Legend />
              <Matrix plan={data} />
              <Pager page={page} perPage={SITES} total={data.total} go={go('page')} of={t.nav.sites} />
              <Pager page={itemPage} perPage={ITEMS} total={data.total_items} go={go('items')} of={t.plan.items} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

interface ChoicesProps {
  query: Query;
  filters: Filters;
  filter: (members: Record<string, string | undefined>) => void;
}

/** Kinds, sizes, tags and a search. The last kind or size that is left stays. */
function Choices({ query, filters, filter }: ChoicesProps) {
  const [typed, setTyped] = useTyped(query.search ?? '', (search) => filter({ search }));
  const tags = useLoad('owners:tags', (signal) =>
    answer(api.GET('/tags', { params: { query: { per_page: 100 } }, signal })),
  );
  const options = (tags.data?.data ?? []).map(({ id, name }) => [String(id), name] as const);
  return (
    <search class="filters">
      <Chips
        label={t.updates.kind}
        all={TYPES}
        chosen={filters.types}
        word={(type) => t.plan.kind[type]}
        choose={(types) => filter({ type: types.join() === STANDARD.join() ? undefined : types.join() })}
      />
      <Chips
        label={t.updates.level}
        all={LEVELS}
        chosen={filters.levels}
        word={(level) => t.level[level]}
        choose={(levels) => filter({ level: levels.length === LEVELS.length ? undefined : levels.join() })}
      />
      {options.length > 0 && (
        <>
          <SelectField
            hidden
            label={t.sites.tag}
            value={query.tag ?? ''}
            onChange={(tag) => filter({ tag })}
            options={[['', t.sites.anyTag], ...options]}
          />
          <SelectField
            hidden
            label={t.plan.withoutTag}
            value={query.without ?? ''}
            onChange={(without) => filter({ without })}
            options={[['', t.plan.withoutTag], ...options.map(([id, name]) => [id, t.plan.without(name)] as const)]}
          />
        </>
      )}
      <SearchField label={t.updates.search} value={typed} onInput={setTyped} />
    </search>
  );
}

interface ChipsProps<T extends string> {
  label: string;
  all: readonly T[];
  chosen: readonly T[];
  word: (one: T) => string;
  choose: (chosen: readonly T[]) => void;
}

function Chips<T extends string>({ label, all, chosen, word, choose }: ChipsProps<T>) {
  return (
    <fieldset class="chips" aria-label={label}>
      {all.map((one) => {
        const on = chosen.includes(one);
        return (
          <button
            key={one}
            type="button"
            class="chip"
            aria-pressed={on}
            disabled={on && chosen.length === 1}
            onClick={() => choose(all.filter((each) => (each === one ? !on : chosen.includes(each))))}
          >
            {word(one)}
          </button>
        );
      })}
    </fieldset>
  );
}

/** What is ticked, over all sites and items; what was left out; and the button. */
function Total({
  plan,
  filters,
  stale,
}: {
  plan: Plan;
  filters: Filters /** The plan of other filters is shown still. */;
  stale: boolean;
}) {
  const left = useStore(choice);
  const write = useMayWrite();
  const settings = useUpdateSettings();
  const { route, url } = useLocation();
  const body = bodyOf(filters, left);
  const untouched = left.items.size + left.sites.size === 0;
  const counted = useCounted(body, untouched);
  const { updates, sites, unguarded } = untouched
    ? { updates: plan.totals.updates, sites: plan.totals.sites, unguarded: plan.totals.unguarded_sites }
    : {
        updates: counted.data?.would_affect?.total ?? plan.totals.updates,
        sites: counted.data?.would_affect?.sites ?? plan.totals.sites,
        unguarded: counted.data?.would_affect?.unguarded_sites ?? plan.totals.unguarded_sites,
      };
  // What the button says is what it does.
  const counting = untouched ? stale : counted.loading || counted.data === undefined;
  const everything = untouched && Object.keys(narrowed(filters)).length === 0;
  const go = () =>
    startRun((run_id) => answer(api.POST('/updates/update', { body: { ...body, run_id } })), {
      route,
      back: url,
      started: () => choice.set(EVERYTHING),
    });
  return (
    <div class="chosen sum">
      <div class="what" aria-live="polite">
        <strong>{t.plan.sum(updates, sites)}</strong>
        <span class="under small">
          {unguarded > 0 && (
            <span class="risk">
              <Icon of={ShieldOff} /> {t.plan.unguarded(unguarded)}
            </span>
          )}
          {plan.totals.quarantined > 0 && <span class="muted">{t.plan.quarantined(plan.totals.quarantined)}</span>}
        </span>
      </div>
      {!untouched && <LeftOut left={left} />}
      {write && !(everything && settings.hidesAll) && (
        <Button kind="main" icon={PackageCheck} disabled={counting || updates === 0} onClick={go}>
          {t.sites.updateCount(number(updates))}
        </Button>
      )}
      {counted.error !== undefined && !untouched && <p class="problem">{counted.error.message}</p>}
    </div>
  );
}

/** The service counts what the same call would do. */
function useCounted(body: ReturnType<typeof bodyOf>, untouched: boolean) {
  const key = JSON.stringify(body);
  const [settled, settle] = useState(key);
  useEffect(() => {
    const timer = setTimeout(() => settle(key), COUNT_MS);
    return () => clearTimeout(timer);
  }, [key]);
  const counted = useLoad(
    untouched ? null : `updates:count:${settled}`,
    (signal) =>
      answer(api.POST('/updates/update', { body: { ...(JSON.parse(settled) as typeof body), dry_run: true }, signal })),
    { keepShown: true },
  );
  return { ...counted, loading: counted.loading || settled !== key };
}

/** Each can be taken in again, wherever it is in the matrix. */
function LeftOut({ left: { items, sites } }: { left: Choice }) {
  const everywhere = [...items.values()].filter(({ site_id }) => site_id === undefined);
  const single = [...items.values()].filter(({ site_id }) => site_id !== undefined);
  const drop = (key: string, word: string, onClick: () => void) => (
    <li key={key}>
      <button type="button" class="chip" aria-label={t.plan.takeIn(word)} onClick={onClick}>
        {word} <Icon of={X} />
      </button>
    </li>
  );
  return (
    <div class="leftout">
      <span class="muted small">{t.plan.leftOut}</span>
      <ul class="chips">
        {everywhere.map((item) => drop(keyOf(item), item.name, () => setItem(item, true)))}
        {[...sites].map(([id, name]) => drop(String(id), name, () => setSite(id, name, true)))}
        {single.length > 0 &&
          drop('single', t.plan.single(single.length), () => {
            for (const item of single) setItem(item, true);
          })}
      </ul>
    </div>
  );
}

function Legend() {
  return (
    <ul class="legend small muted" aria-label={t.plan.legend}>
      {(['fine', 'major', 'danger', 'bare', 'held'] as const).map((risk) => (
        <li key={risk}>
          <span class={`swatch risk-${risk}`} aria-hidden="true" /> {t.plan.risk[risk]}
        </li>
      ))}
    </ul>
  );
}

const itemOf = ({ type, slug, name }: PlanItem): LeftItem => ({ type, slug, name });

function Matrix({ plan: { items, data } }: { plan: Plan }) {
  const write = useMayWrite();
  const left = useStore(choice);
  return (
    <div class="scroll">
      <table class="matrix plan">
        <thead>
          <tr>
            <th scope="col">{t.sites.column.name}</th>
            {items.map((item) => (
              <th key={keyOf(item)} scope="col">
                {write ? (
                  <Check
                    label={item.name}
                    checked={!left.items.has(keyOf(item)) && item.sites > 0}
                    disabled={item.sites === 0}
                    onChange={(on) => setItem(itemOf(item), on)}
                  />
                ) : (
                  <span>{item.name}</span>
                )}
                <span class="small muted">
                  {t.plan.head(
                    item.type === 'plugin' || item.type === 'core' ? null : t.updateKind[item.type],
                    item.level === null ? null : t.level[item.level],
                    t.updates.onSites(item.sites),
                  )}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((site) => (
            <Row key={site.site_id} site={site} items={items} left={left} write={write} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  site: PlanSite;
  items: readonly PlanItem[];
  left: Choice;
  write: boolean;
}

function Row({ site, items, left, write }: RowProps) {
  const { site_id, site_name, site_url, cells } = site;
  const at = new Map(cells.map((cell) => [cell.item, cell]));
  const usable = site.obstacle === null && cells.some(({ quarantined }) => !quarantined);
  const chosen = usable && !left.sites.has(site_id);
  return (
    <tr>
      <th scope="row">
        <span class="site">
          {write && (
            <Check
              hidden
              label={t.plan.site(site_name)}
              checked={chosen}
              disabled={!usable}
              onChange={(on) => setSite(site_id, site_name, on)}
            />
          )}
          <a href={`/sites/${site_id}?tab=updates`}>{site_name}</a>
          {site.down && (
            <Badge tone="bad" icon={OctagonX}>
              {t.monitor.down}
            </Badge>
          )}
          {site.guarded !== true && (
            <span class="unguarded" title={t.protection.none}>
              <Icon of={ShieldOff} />
              <span class="unseen">{t.protection.none}</span>
            </span>
          )}
        </span>
        {site.namesake && <span class="address">{t.address(site_url)}</span>}
        {site.obstacle !== null && <span class="obstacle small muted">{site.obstacle}</span>}
      </th>
      {items.map((item, index) => {
        const cell = at.get(index);
        return (
          <td key={keyOf(item)}>
            {cell && <Cell site={site} item={item} cell={cell} left={left} write={write} rowOn={chosen} />}
          </td>
        );
      })}
    </tr>
  );
}

/** The worst that may come of an update; `held`: it is not applied. */
function riskOf({ obstacle, down, guarded }: PlanSite, { type }: PlanItem, cell: PlanCell) {
  if (cell.quarantined || obstacle !== null) return 'held';
  if (cell.quarantined_elsewhere || down) return 'danger';
  if (cell.level === 'major') return 'major';
  return guarded !== true && (type === 'plugin' || type === 'theme') ? 'bare' : 'fine';
}

interface CellProps {
  site: PlanSite;
  item: PlanItem;
  cell: PlanCell;
  left: Choice;
  write: boolean;
  /** The site is ticked. */
  rowOn: boolean;
}

function Cell({ site, item, cell, left, write, rowOn }: CellProps) {
  const risk = riskOf(site, item, cell);
  const own = { ...itemOf(item), site_id: site.site_id };
  const open = risk !== 'held' && rowOn && !left.items.has(keyOf(item));
  const on = open && !left.items.has(keyOf(own));
  const guardable = item.type === 'plugin' || item.type === 'theme';
  const risks = [
    ...(cell.quarantined ? [t.plan.risk.held] : []),
    ...(cell.quarantined_elsewhere ? [t.plan.elsewhere] : []),
    ...(cell.level === 'major' ? [t.plan.risk.major] : []),
    ...(guardable && site.guarded !== true ? [t.plan.risk.bare] : []),
  ];
  const said = [t.now.change(item.name, cell.current_version, cell.new_version), ...risks].join(', ');
  const bare = guardable && site.guarded !== true && risk !== 'held' ? 'bare' : '';
  const marked = (
    <>
      <span class="version" aria-hidden="true">
        {cell.new_version}
      </span>
      {(cell.quarantined || cell.quarantined_elsewhere) && <Icon of={ShieldAlert} />}
    </>
  );
  const look = `planned risk-${risk} ${bare}${on || !write ? '' : ' off'}`;
  if (!write)
    return (
      <span class={look} title={said}>
        {marked}
        <span class="unseen">{said}</span>
      </span>
    );
  return (
    <label class={look} title={said}>
      <input
        type="checkbox"
        aria-label={`${site.site_name}: ${said}`}
        checked={on}
        disabled={!open}
        onChange={(event) => setItem(own, event.currentTarget.checked)}
      />
      {marked}
    </label>
  );
}
