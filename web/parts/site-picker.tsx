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
  /** How many can be chosen. */
  most?: number;
  /** The field takes the focus when it appears. */
  focus?: boolean;
}

export function SitePicker({ label, none, chosen, onChange, most = Number.POSITIVE_INFINITY, focus = false }: Props) {
  const [search, setSearch] = useState('');
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
  const include = [...chosen].sort((a, b) => a - b);
  const named = useLoad(
    chosen.length === 0 ? null : `picked:${include}`,
    (signal) => answer(api.GET('/sites/basic', { params: { query: { include } }, signal })).then(({ data }) => data),
    { keepShown: true },
  );
  const known = new Map([...(found.data ?? []), ...(named.data ?? [])].map((site) => [site.id, site]));
  const nameOf = (id: number) => known.get(id)?.name ?? `#${id}`;
  /** With the address where others have the same name. */
  const titleOf = (id: number) =>
    chosen.some((other) => other !== id && nameOf(other) === nameOf(id))
      ? `${nameOf(id)} (${t.address(known.get(id)?.url ?? '')})`
      : nameOf(id);
  const matches = (found.data ?? []).filter(({ id }) => !chosen.includes(id));
  return (
    <div>
      {chosen.length < most && (
        <TextField label={label} type="search" value={search} onInput={setSearch} focus={focus} />
      )}
      {chosen.length === 0 && <p class="muted small">{none}</p>}
      {chosen.length > 0 && (
        <ul class="picked">
          {chosen.map((id) => (
            <li key={id}>
              <Button
                small
                icon={X}
                label={t.recipients.without(titleOf(id))}
                onClick={() => onChange(chosen.filter((one) => one !== id))}
              >
                {titleOf(id)}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {chosen.length < most && matches.length > 0 && (
        <ul class="picked found" aria-label={t.sites.search}>
          {matches.map(({ id, name, url }) => (
            <li key={id}>
              <Button small onClick={() => onChange([...chosen, id])}>
                + {name} <span class="muted">{t.address(url)}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
