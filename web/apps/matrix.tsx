/** Sites by items, inside an assistant. */

import type { ComponentChildren } from 'preact';
import { plainUrl } from './frame.js';
import { say } from './texts.js';

export interface Placed {
  site_id: number;
  site_url: string | null;
  site_name: string | null;
  type: string;
  slug: string;
  name: string;
}

const columnOf = ({ type, slug }: Pick<Placed, 'type' | 'slug'>) => `${type} ${slug}`;

interface Props<P extends Placed> {
  items: readonly P[];
  head: (item: P) => ComponentChildren;
  cell: (item: P) => ComponentChildren;
}

export function Matrix<P extends Placed>({ items, head, cell }: Props<P>) {
  const parts = items.filter(({ type }) => type !== 'site');
  const columns = new Map(parts.map((item) => [columnOf(item), item]));
  const sites = new Map(parts.map((item) => [item.site_id, item]));
  const at = new Map(parts.map((item) => [`${item.site_id} ${columnOf(item)}`, item]));
  const names = [...sites.values()].map(({ site_name }) => site_name);
  return (
    <div class="scrolls">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">{say.run.site}</th>
            {[...columns].map(([key, item]) => (
              <th key={key} scope="col">
                {head(item)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...sites].map(([id, { site_name, site_url }]) => (
            <tr key={id}>
              <th scope="row">
                {site_name ?? say.job.site(id)}
                {site_url !== null && names.filter((name) => name === site_name).length > 1 && (
                  <span class="muted"> {plainUrl(site_url)}</span>
                )}
              </th>
              {[...columns.keys()].map((key) => {
                const item = at.get(`${id} ${key}`);
                return <td key={key}>{item === undefined ? '–' : cell(item)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
