/**
 * The keyboard's way through the page: Ctrl or ⌘ with K finds sites, views, actions and settings, `/` goes to the search of
 * the view, `j` and `k` go down and up a list, and `?` lists these keys.
 */

import { useEffect, useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { createStore, useStore } from '../api/store.js';
import { t } from '../texts/texts.js';
import { Dialog } from './dialog.js';
import { fitting, type Goal } from './goals.js';
import { Icon } from './icon.js';
import { Keyboard, Search } from './icons.js';

const MOST_SITES = 8;
/** Of views, actions and settings: the sites stay within sight. */
const MOST_GOALS = 8;

const shown = createStore<'find' | 'keys' | null>(null);

/** Opens the search of sites, views, actions and settings, for those who do not press its keys. */
export const openSearch = () => shown.set('find');

/** @param goals what there is besides sites, asked for when the search opens */
export function Keys({ goals }: { goals: () => readonly Goal[] }) {
  const open = useStore(shown);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if ((event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === 'k') {
        event.preventDefault();
        return shown.set('find');
      }
      const writes = target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]');
      if (writes || event.metaKey || event.ctrlKey || event.altKey) return;
      if (key === '?') return shown.set('keys');
      if (key === '/') {
        event.preventDefault();
        const field = document.querySelector<HTMLInputElement>('main input[type=search]');
        if (field === null) return shown.set('find');
        field.focus();
      }
      if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1);
    };
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('keydown', press);
      shown.set(null);
    };
  }, []);
  const close = () => shown.set(null);
  if (open === 'keys')
    return (
      <Dialog title={t.keys.title} onClose={close}>
        <dl class="keys">
          {t.keys.list.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </Dialog>
    );
  return open === 'find' ? <Find goals={goals} close={close} /> : null;
}

/** Moves the focus among the first links of the rows of the view. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main tbody tr, main .matter li, main .item, main .log li')];
  const links = rows.flatMap((row) => row.querySelector<HTMLElement>('th a, .what > a, a, button') ?? []);
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at === -1 ? (by === 1 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function Find({ goals, close }: { goals: () => readonly Goal[]; close: () => void }) {
  const { route } = useLocation();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [all] = useState(goals);
  const word = text.trim().toLowerCase();
  const sites = useLoad(
    word === '' ? null : `palette:${word}`,
    (signal) => {
      const query = { search: word, columns: ['id' as const, 'name' as const, 'url' as const], per_page: MOST_SITES };
      return answer(api.GET('/fleet/sites', { params: { query }, signal })).then(({ rows }) => rows);
    },
    { keepShown: true },
  );
  const found: Goal[] = [
    ...fitting(all, word, MOST_GOALS),
    // Last, because they arrive later: what is chosen does not move.
    ...(word === '' ? [] : (sites.data ?? [])).map(([site, name, url]) => ({
      to: `/sites/${site}`,
      word: String(name),
      about: t.address(String(url)),
    })),
  ];
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const go = (goal: Goal | undefined) => {
    if (goal === undefined) return;
    close();
    if (typeof goal.to === 'function') goal.to();
    else if (goal.outside) location.assign(goal.to);
    else route(goal.to);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(found[chosen]);
    else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else return;
    event.preventDefault();
  };
  // Preact's types know this role only together with a datalist.
  const combobox: object = {
    role: 'combobox',
    'aria-expanded': found.length > 0,
    'aria-controls': id,
    'aria-activedescendant': chosen < 0 ? undefined : `${id}-${chosen}`,
  };
  return (
    <Dialog title={t.keys.find} onClose={close}>
      <div class="search">
        <Icon of={Search} />
        <input
          type="search"
          {...combobox}
          aria-label={t.keys.find}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
      </div>
      <div id={id} role="listbox" aria-label={t.keys.found} class="found">
        {found.map((goal, index) => (
          <Option
            key={typeof goal.to === 'string' ? goal.to : goal.word}
            id={`${id}-${index}`}
            goal={goal}
            chosen={index === chosen}
            go={() => go(goal)}
          />
        ))}
      </div>
      {word !== '' && found.length === 0 && !sites.loading && <p class="muted">{t.sites.nothingFits}</p>}
      <p class="small muted">
        <Icon of={Keyboard} /> {t.keys.hint}
      </p>
    </Dialog>
  );
}

/** A link where it has an address, so that it can be opened in another tab. */
function Option({ id, goal, chosen, go }: { id: string; goal: Goal; chosen: boolean; go: () => void }) {
  const props = { id, role: 'option' as const, 'aria-selected': chosen, tabIndex: -1 };
  const words = (
    <>
      <strong>{goal.word}</strong> <span class="muted">{goal.about}</span>
    </>
  );
  if (typeof goal.to !== 'string')
    return (
      <button type="button" {...props} onClick={go}>
        {words}
      </button>
    );
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    // The router would follow it as well.
    event.stopPropagation();
    go();
  };
  return (
    <a {...props} href={goal.to} onClick={follow}>
      {words}
    </a>
  );
}
