/** Chooses any number of sites by searching: those chosen stay above the matches. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { TextField } from './field.js';
import { Picked } from './picked.js';

const MATCHES = 8;

/** The id of a site, or what a call that was not made here named it by. */
export type SiteRef = number | string;

interface Props<R extends SiteRef> {
  label: string;
  /** Said while none is chosen. */
  none?: string;
  chosen: readonly R[];
  onChange: (chosen: readonly (R | number)[]) => void;
  /** Of the field, for errors about it. */
  name?: string;
  /** How many can be chosen. */
  most?: number;
  /** The field takes the focus when it appears. */
  focus?: boolean;
}

export function SitePicker<R extends SiteRef = number>({
  label,
  none,
  chosen,
  onChange,
  name,
  most = Number.POSITIVE_INFINITY,
  focus = false,
}: Props<R>) {
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
  const include = chosen.filter((one): one is R & number => typeof one === 'number').sort((a, b) => a - b);
  const named = useLoad(
    include.length === 0 ? null : `picked:${include}`,
    (signal) => answer(api.GET('/sites/basic', { params: { query: { include } }, signal })).then(({ data }) => data),
    { keepShown: true },
  );
  const known = new Map<SiteRef, { name: string; url: string }>(
    [...(found.data ?? []), ...(named.data ?? [])].map((site) => [site.id, site]),
  );
  const nameOf = (of: SiteRef) => known.get(of)?.name ?? (typeof of === 'number' ? `#${of}` : t.address(of));
  /** With the address where others have the same name. */
  const titleOf = (of: R) =>
    chosen.some((other) => other !== of && nameOf(other) === nameOf(of))
      ? `${nameOf(of)} (${t.address(known.get(of)?.url ?? '')})`
      : nameOf(of);
  const matches = (found.data ?? []).filter(({ id }) => !chosen.some((one) => one === id));
  return (
    <div>
      {chosen.length < most && (
        <TextField
          label={label}
          type="search"
          value={search}
          onInput={setSearch}
          focus={focus}
          {...(name === undefined ? {} : { name })}
          {...(chosen.length === 0 && none !== undefined ? { hint: none } : {})}
        />
      )}
      <Picked keys={chosen} word={titleOf} remove={(one) => onChange(chosen.filter((other) => other !== one))} />
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
