/** Chooses any number of sites by searching: those chosen stay above the matches. */

import { X } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { TextField } from './field.js';

const MATCHES = 8;

interface Props {
  label: string;
  /** Said while none is chosen. */
  none: string;
  chosen: readonly number[];
  onChange: (ids: readonly number[]) => void;
}

export function SitePicker({ label, none, chosen, onChange }: Props) {
  const [search, setSearch] = useState('');
  const [names, setNames] = useState<ReadonlyMap<number, string>>(new Map());
  const found = useLoad(
    `picker:${search}`,
    async (signal) => {
      if (search === '') return [];
      const query = { search, columns: ['id' as const, 'name' as const, 'url' as const], per_page: MATCHES };
      const { rows } = await answer(api.GET('/fleet/sites', { params: { query }, signal }));
      return rows.map(([id, name, url]) => ({ id: Number(id), name: String(name), url: String(url) }));
    },
    { keepShown: true },
  );
  const matches = (found.data ?? []).filter(({ id }) => !chosen.includes(id));
  return (
    <div>
      <TextField label={label} type="search" value={search} onInput={setSearch} />
      {chosen.length === 0 && <p class="muted small">{none}</p>}
      {chosen.length > 0 && (
        <ul class="picked">
          {chosen.map((id) => (
            <li key={id}>
              <Button
                small
                icon={X}
                label={t.recipients.without(names.get(id) ?? `#${id}`)}
                onClick={() => onChange(chosen.filter((one) => one !== id))}
              >
                {names.get(id) ?? `#${id}`}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {matches.length > 0 && (
        <ul class="picked found" aria-label={t.sites.search}>
          {matches.map(({ id, name, url }) => (
            <li key={id}>
              <Button
                small
                onClick={() => {
                  setNames(new Map(names).set(id, name));
                  onChange([...chosen, id]);
                }}
              >
                + {name} <span class="muted">{url.replace(/^https?:\/\//, '')}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
