/** Views of the sites that a person named: filters, order and columns, kept in the browser. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../parts/button.js';
import { TextField } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { Bookmark, X } from '../parts/icons.js';
import type { Query } from '../parts/query.js';
import { t } from '../texts/texts.js';
import { COLUMNS, type Column, chooseColumns } from './sites-columns.js';

export interface View {
  name: string;
  /** The query of the address, without the page. */
  query: string;
  columns: readonly Column[];
}

const KEY = 'views';
const MOST = 30;

export function readViews(): readonly View[] {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '[]') as unknown;
    if (!Array.isArray(stored)) return [];
    return stored.flatMap(({ name, query, columns }: Partial<View>) =>
      typeof name === 'string' && typeof query === 'string' && Array.isArray(columns)
        ? [{ name, query, columns: COLUMNS.filter((column) => columns.includes(column)) }]
        : [],
    );
  } catch {
    // Storage is refused, or contains something else.
    return [];
  }
}

export const addressOf = ({ query }: View) => `/sites${query === '' ? '' : `?${query}`}`;

interface Props {
  query: Query;
  columns: readonly Column[];
}

export function SavedViews({ query, columns }: Props) {
  const { route } = useLocation();
  const [views, setViews] = useState(readViews);
  const [name, setName] = useState('');
  const [open, setOpen] = useState(false);
  const store = (next: readonly View[]) => {
    setViews(next);
    try {
      localStorage.setItem(KEY, JSON.stringify(next));
    } catch {
      // They hold until the page is left.
    }
  };
  const save = () => {
    const { page: _page, ...kept } = query;
    const view = { name: name.trim(), query: new URLSearchParams(kept).toString(), columns };
    store([...views.filter((one) => one.name !== view.name), view].slice(-MOST));
    setName('');
  };
  const show = (view: View) => {
    setOpen(false);
    chooseColumns(view.columns);
    route(addressOf(view));
  };
  return (
    <details class="menu" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="button plain">
        <Icon of={Bookmark} />
        <span>{t.sites.views}</span>
      </summary>
      <div class="sheet">
        {views.map((view) => (
          <div key={view.name} class="view">
            <Button small kind="quiet" onClick={() => show(view)}>
              {view.name}
            </Button>
            <button
              type="button"
              class="close"
              aria-label={t.sites.deleteView(view.name)}
              onClick={() => store(views.filter((one) => one !== view))}
            >
              <Icon of={X} />
            </button>
          </div>
        ))}
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== '') save();
          }}
        >
          <TextField label={t.sites.viewName} hint={t.sites.viewsHint} value={name} onInput={setName} required />
          <Button small type="submit">
            {t.sites.saveView}
          </Button>
        </form>
      </div>
    </details>
  );
}
