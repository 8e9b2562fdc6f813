/** Updates across the fleet: one line for each item, opened into its sites, with a preview before anything is done. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge, Level, Protection } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Check, SearchField, SelectField } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { ChevronDown, ChevronRight, CircleCheckBig, PackageCheck, ShieldAlert } from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery, useTyped } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { Quarantine } from './quarantine.js';
import { Preview, TYPES } from './update-item.js';
import { useUpdateSettings } from './update-settings.js';
import { UpdateTabs } from './update-tabs.js';

const PER_PAGE = 50;
const LEVELS = ['patch', 'minor', 'major'] as const;

export function Updates() {
  const [query, change] = useQuery();
  const type = TYPES.find((one) => one === query.type);
  const level = LEVELS.find((one) => one === query.level);
  const page = pageOf(query);
  const [typed, setTyped] = useTyped(query.search ?? '', (search) => change({ search, page: undefined }, true));
  const asked = {
    ...(type === undefined ? {} : { type: [type] }),
    ...(level === undefined ? {} : { level: [level] }),
    ...(query.search === undefined ? {} : { search: query.search }),
    page,
    per_page: PER_PAGE,
  };
  const found = useLoad(
    `updates:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/fleet/updates', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['updates', 'site'], 'updates:', 3000);
  const filtered = type !== undefined || level !== undefined || query.search !== undefined;
  return (
    <Page title={t.nav.updates} about={found.data && t.updates.items(number(found.data.total))}>
      <UpdateTabs at="items" />
      <search class="filters">
        <SearchField label={t.updates.search} value={typed} onInput={setTyped} />
        <SelectField
          hidden
          label={t.updates.kind}
          value={type ?? ''}
          onChange={(next) => change({ type: next, page: undefined })}
          options={[['', t.updates.anyKind], ...TYPES.map((one) => [one, t.updateKind[one]] as const)]}
        />
        <SelectField
          hidden
          label={t.updates.level}
          value={level ?? ''}
          onChange={(next) => change({ level: next, page: undefined })}
          options={[['', t.updates.anyLevel], ...LEVELS.map((one) => [one, t.level[one]] as const)]}
        />
      </search>
      <Loaded of={found} rows={8}>
        {({ data, total }) =>
          total === 0 ? (
            <Empty icon={CircleCheckBig} title={filtered ? t.updates.noneFits : t.updates.noneAtAll}>
              {filtered && (
                <Button
                  onClick={() => change({ type: undefined, level: undefined, search: undefined, page: undefined })}
                >
                  {t.sites.clearFilters}
                </Button>
              )}
            </Empty>
          ) : (
            <>
              <ul class="items">
                {data.map((item) => (
                  <ItemLine key={`${item.type} ${item.slug}`} item={item} />
                ))}
              </ul>
              <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            </>
          )
        }
      </Loaded>
      <Quarantine />
    </Page>
  );
}

interface Item {
  type: (typeof TYPES)[number];
  slug: string;
  name: string;
  sites: number;
  guarded: number;
  level: (typeof LEVELS)[number] | null;
  current_versions: readonly string[];
  new_versions: readonly string[];
  held_back: readonly string[];
  fixing_sites: number | null;
  fixes: readonly string[];
}

function ItemLine({ item }: { item: Item }) {
  const [open, setOpen] = useState(false);
  const { type, slug, name, sites, guarded, level, current_versions, new_versions, held_back, fixing_sites, fixes } =
    item;
  return (
    <li class={open ? 'item open' : 'item'}>
      <button type="button" class="line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon of={open ? ChevronDown : ChevronRight} />
        <span class="name">
          <strong>{name}</strong> <span class="muted">{t.updateKind[type]}</span>
          {fixing_sites !== null && fixing_sites > 0 && <span class="fixing">{t.updates.fixing(fixing_sites)}</span>}
        </span>
        <span class="versions">{t.updates.span(current_versions, new_versions)}</span>
        <Level level={level} />
        <span class="on">{t.updates.onSites(sites)}</span>
        <span class="under">
          {held_back.length > 0 && (
            <Badge tone="bad" icon={ShieldAlert}>
              {t.updates.quarantined}
            </Badge>
          )}
          {(type === 'plugin' || type === 'theme') && (
            <span class="muted small">{t.updates.guarded(guarded, sites)}</span>
          )}
        </span>
      </button>
      {open && fixes.length > 0 && (
        <p class="inside small">
          {t.updates.fixes} {fixes.join(', ')}
        </p>
      )}
      {open && <ItemSites type={type} slug={slug} name={name} total={sites} />}
    </li>
  );
}

const SITES = 100;

function ItemSites({ type, slug, name, total }: { type: Item['type']; slug: string; name: string; total: number }) {
  const [page, setPage] = useState(1);
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const [asking, setAsking] = useState(false);
  const write = useMayWrite();
  const settings = useUpdateSettings();
  const found = useLoad(`updates:sites:${type}:${slug}:${page}`, (signal) =>
    answer(api.GET('/fleet/updates/sites', { params: { query: { type, slug, page, per_page: SITES } }, signal })),
  );
  return (
    <div class="inside">
      <Loaded of={found}>
        {({ data }) => (
          <>
            <ul class="picks">
              {data.map((site) => (
                <li key={site.site_id}>
                  {write ? (
                    <Check
                      label={site.site_name}
                      checked={!left.has(site.site_id)}
                      onChange={(on) =>
                        setLeft(
                          (before) =>
                            new Set(on ? [...before].filter((id) => id !== site.site_id) : [...before, site.site_id]),
                        )
                      }
                    />
                  ) : (
                    <span>{site.site_name}</span>
                  )}
                  <a class="muted small" href={`/sites/${site.site_id}?tab=updates`}>
                    {t.now.look}
                  </a>
                  <span class="versions">{t.updates.versions(site.current_version ?? '', site.new_version)}</span>
                  {type === 'plugin' || type === 'theme' ? (
                    <Protection by={site.guarded === null ? 'unknown' : site.guarded ? 'guard' : 'none'} />
                  ) : (
                    <Protection by="none" />
                  )}
                </li>
              ))}
            </ul>
            <Pager page={page} perPage={SITES} total={total} go={setPage} />
          </>
        )}
      </Loaded>
      {write && (
        <div class="row">
          <Button kind="main" small icon={PackageCheck} disabled={left.size >= total} onClick={() => setAsking(true)}>
            {t.updates.go(number(total - left.size))}
          </Button>
        </div>
      )}
      {asking && (
        <Preview
          type={type}
          slug={slug}
          name={name}
          left={[...left]}
          asks={settings.asks(total - left.size)}
          close={() => setAsking(false)}
        />
      )}
    </div>
  );
}
