/** What a run does where, at a glance: a sign for each update. */

import { useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.js';
import { Card } from '../parts/page.js';
import { t } from '../texts/texts.js';
import { type RunItem as Item, nameOf, signOf } from './run-states.js';

/** Columns of the matrix: it need not be scrolled. */
const MOST_COLUMNS = 8;

/** Sites by items: what happens where, at a glance. */
export function Matrix({ items }: { items: readonly Item[] }) {
  const parts = items.filter(({ type }) => type !== 'site');
  const columns = new Map(parts.map((item) => [`${item.type} ${item.slug}`, nameOf(item)]));
  const sites = [...new Set(parts.map(({ site_id }) => site_id))];
  if (parts.length < 2) return null;
  if (columns.size > MOST_COLUMNS) return <Strips items={parts} sites={sites} />;
  const of = new Map(parts.map((item) => [`${item.site_id} ${item.type} ${item.slug}`, item]));
  return (
    <Card title={t.runs.glance}>
      <div class="scroll">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">{t.sites.column.name}</th>
              {[...columns].map(([key, name]) => (
                <th key={key} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sites.map((site) => (
              <tr key={site}>
                <th scope="row">
                  <SiteLink items={items} site={site} />
                </th>
                {[...columns.keys()].map((key) => {
                  const item = of.get(`${site} ${key}`);
                  return <td key={key}>{item === undefined ? <span class="muted">–</span> : <Cell item={item} />}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** The same with many items, of which each site has few: they stand one after the other, by name. */
function Strips({ items, sites }: { items: readonly Item[]; sites: readonly number[] }) {
  return (
    <Card title={t.runs.glance}>
      <ul class="strips">
        {sites.map((site) => (
          <li key={site}>
            <span>
              <SiteLink items={items} site={site} />
            </span>
            <span class="cells">
              {items
                .filter(({ site_id }) => site_id === site)
                .map((item) => (
                  <Cell key={`${item.type} ${item.slug}`} item={item} named />
                ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Cell({ item, named = false }: { item: Item; named?: boolean }) {
  // Seen while it was under way: then its break is shown, even if it was over between two looks.
  const watched = useRef(item.state !== 'rolled_back').current;
  const { tone, icon, word } = signOf(item);
  const { old_version: from, new_version: to } = item;
  const what = named ? t.now.change(nameOf(item), from, to) : t.updates.versions(from, to);
  const said = `${t.runs.state[item.state]}: ${what}`;
  return (
    <span class={`cell ${tone}${watched && item.state === 'rolled_back' ? ' flips' : ''}`} title={said}>
      <Icon of={icon} class={tone === 'busy' ? 'turning' : ''} />
      <span class="unseen">{said}</span>
      <span aria-hidden={word === to}>{named ? `${nameOf(item)}: ${word}` : word}</span>
    </span>
  );
}

type Named = Pick<Item, 'site_id' | 'site_name' | 'site_url'>;

/** The name of a site; and its address, where names repeat. */
export function siteTitle(items: readonly Named[], site: number): { name: string; address: string | null } {
  const own = items.find(({ site_id }) => site_id === site);
  const name = own?.site_name ?? t.site.number(site);
  const repeats = items.some(({ site_id, site_name }) => site_id !== site && site_name === name);
  return { name, address: repeats && own?.site_url != null ? t.address(own.site_url) : null };
}

export function SiteLink({ items, site, tab = '' }: { items: readonly Named[]; site: number; tab?: string }) {
  const { name, address } = siteTitle(items, site);
  return (
    <>
      <a href={`/sites/${site}${tab}`}>{name}</a>
      {address !== null && <span class="address">{address}</span>}
    </>
  );
}
