/** Plugins and themes of a site, with the update for each, and activating and deactivating them. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { SearchField } from '../parts/field.js';
import { CheckCircle2, CircleDashed, Package } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './site.js';

interface Item {
  slug: string;
  name: string;
  version: string | null;
  active: number | null;
  update_version?: string | null;
  mu?: number;
  is_child_agent?: boolean;
}

export function Inventory({ site }: { site: SiteRecord }) {
  const [search, setSearch] = useState('');
  const at = { path: { id_or_domain: String(site.id) } };
  const plugins = useLoad(`site:${site.id}:plugins`, (signal) =>
    answer(api.GET('/sites/{id_or_domain}/plugins', { params: at, signal })).then(
      ({ data }) => data as readonly Item[],
    ),
  );
  const themes = useLoad(`site:${site.id}:themes`, (signal) =>
    answer(api.GET('/sites/{id_or_domain}/themes', { params: at, signal })).then(({ data }) => data as readonly Item[]),
  );
  const body = (slug: string) => ({ params: at, body: { slug: [slug] } });
  const done = async (work: Promise<{ message: string }>) => {
    const { message } = await work;
    refresh(`site:${site.id}:`);
    return message;
  };
  const activate = (slug: string) => done(answer(api.POST('/sites/{id_or_domain}/plugins/activate', body(slug))));
  const deactivate = (slug: string) => done(answer(api.POST('/sites/{id_or_domain}/plugins/deactivate', body(slug))));
  const before = themes.data?.find(({ active }) => active === 1)?.slug;
  const theme = (slug: string) => done(answer(api.POST('/sites/{id_or_domain}/themes/activate', body(slug))));
  return (
    <>
      <div class="filters">
        <SearchField label={t.inventory.search} value={search} onInput={setSearch} />
      </div>
      <Card title={t.updateType.plugins}>
        <Loaded of={plugins} rows={8}>
          {(list) => (
            <Items
              list={fitting(list, search)}
              toggle={(item) =>
                item.mu === 1 || item.is_child_agent === true
                  ? null
                  : item.active === 1
                    ? [
                        t.inventory.deactivate,
                        () =>
                          trying(
                            () => deactivate(item.slug),
                            () => activate(item.slug),
                          ),
                      ]
                    : [
                        t.inventory.activate,
                        () =>
                          trying(
                            () => activate(item.slug),
                            () => deactivate(item.slug),
                          ),
                      ]
              }
              site={site}
            />
          )}
        </Loaded>
      </Card>
      <Card title={t.updateType.themes}>
        <Loaded of={themes}>
          {(list) => (
            <Items
              list={fitting(list, search)}
              toggle={(item) =>
                item.active === 1
                  ? null
                  : [
                      t.inventory.activate,
                      () => trying(() => theme(item.slug), before === undefined ? undefined : () => theme(before)),
                    ]
              }
              site={site}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

function fitting(list: readonly Item[], search: string): readonly Item[] {
  const word = search.trim().toLowerCase();
  return word === ''
    ? list
    : list.filter(({ slug, name }) => slug.toLowerCase().includes(word) || name.toLowerCase().includes(word));
}

interface ItemsProps {
  list: readonly Item[];
  toggle: (item: Item) => [string, () => Promise<unknown>] | null;
  site: SiteRecord;
}

function Items({ list, toggle, site }: ItemsProps) {
  const write = useMayWrite() && site.status === 'connected';
  if (list.length === 0) return <Empty icon={Package} title={t.inventory.none} />;
  return (
    <div class="scroll">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">{t.inventory.name}</th>
            <th scope="col">{t.inventory.state}</th>
            <th scope="col">{t.inventory.version}</th>
            <th scope="col">{t.inventory.offered}</th>
            {write && (
              <th scope="col">
                <span class="unseen">{t.sites.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {list.map((item) => {
            const action = toggle(item);
            return (
              <tr key={item.slug}>
                <th scope="row">
                  {item.name}
                  <span class="address">{item.slug}</span>
                </th>
                <td data-label={t.inventory.state}>
                  {item.mu === 1 ? (
                    <span class="muted">{t.inventory.mustUse}</span>
                  ) : (
                    <Badge
                      tone={item.active === 1 ? 'good' : 'idle'}
                      icon={item.active === 1 ? CheckCircle2 : CircleDashed}
                    >
                      {item.active === 1 ? t.inventory.active : t.inventory.inactive}
                    </Badge>
                  )}
                </td>
                <td data-label={t.inventory.version}>{item.version || <span class="muted">{t.unknown}</span>}</td>
                <td data-label={t.inventory.offered}>
                  {item.update_version ? (
                    <a href={`/sites/${site.id}?tab=updates`}>{item.update_version}</a>
                  ) : (
                    <span class="muted">–</span>
                  )}
                </td>
                {write && (
                  <td class="act">
                    {action !== null && (
                      <Button small kind="quiet" onClick={action[1]} label={`${action[0]}: ${item.name}`}>
                        {action[0]}
                      </Button>
                    )}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
