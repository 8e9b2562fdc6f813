/**
 * The keyboard's way through the page: Ctrl or ⌘ with K finds sites and views, `/` goes to the search of the view, `j` and
 * `k` go down and up a list, and `?` lists these keys.
 */

import { useEffect, useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { t } from '../texts/texts.js';
import { Dialog } from './dialog.js';
import { Icon } from './icon.js';
import { Keyboard, Search } from './icons.js';

interface Target {
  href: string;
  text: string;
  about: string;
}

const MOST_SITES = 8;

/** @param views address and name of the views, in the order of the navigation */
export function Keys({ views }: { views: readonly (readonly [href: string, name: string])[] }) {
  const [open, setOpen] = useState<'find' | 'keys' | null>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if ((event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === 'k') {
        event.preventDefault();
        return setOpen('find');
      }
      const writes = target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]');
      if (writes || event.metaKey || event.ctrlKey || event.altKey) return;
      if (key === '?') return setOpen('keys');
      if (key === '/') {
        const field = document.querySelector<HTMLInputElement>('main input[type=search]');
        if (field === null) return setOpen('find');
        event.preventDefault();
        field.focus();
      }
      if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const close = () => setOpen(null);
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
  return open === 'find' ? <Find views={views} close={close} /> : null;
}

/** Moves the focus among the first links of the rows of the view. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main tbody tr, main .matter li, main .item, main .log li')];
  const links = rows.flatMap((row) => row.querySelector<HTMLElement>('th a, .what > a, a, button') ?? []);
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at === -1 ? (by === 1 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function Find({ views, close }: { views: readonly (readonly [string, string])[]; close: () => void }) {
  const { route } = useLocation();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const word = text.trim().toLowerCase();
  const sites = useLoad(
    word === '' ? null : `palette:${word}`,
    (signal) => {
      const query = { search: word, columns: ['id' as const, 'name' as const, 'url' as const], per_page: MOST_SITES };
      return answer(api.GET('/fleet/sites', { params: { query }, signal })).then(({ rows }) => rows);
    },
    { keepShown: true },
  );
  const targets: Target[] = [
    ...views
      .filter(([, name]) => name.toLowerCase().includes(word))
      .map(([href, name]) => ({ href, text: name, about: t.keys.view })),
    ...(word === '' ? [] : (sites.data ?? [])).map(([site, name, url]) => ({
      href: `/sites/${site}`,
      text: String(name),
      about: t.address(String(url)),
    })),
  ];
  const chosen = Math.min(at, targets.length - 1);
  const go = (target: Target | undefined) => {
    if (target === undefined) return;
    close();
    route(target.href);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(targets[chosen]);
    else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, targets.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else return;
    event.preventDefault();
  };
  // Preact's types know this role only together with a datalist.
  const combobox: object = {
    role: 'combobox',
    'aria-expanded': targets.length > 0,
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
        {targets.map((target, index) => (
          <a
            key={target.href}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            href={target.href}
            onClick={close}
          >
            <strong>{target.text}</strong> <span class="muted">{target.about}</span>
          </a>
        ))}
      </div>
      {word !== '' && targets.length === 0 && !sites.loading && <p class="muted">{t.sites.nothingFits}</p>}
      <p class="small muted">
        <Icon of={Keyboard} /> {t.keys.hint}
      </p>
    </Dialog>
  );
}
