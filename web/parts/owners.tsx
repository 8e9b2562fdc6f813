/** Chooses a client, or tags. Where there are more than fit in a list, they are searched on the server. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { t } from '../texts/texts.js';
import { Check, SelectField, TextField } from './field.js';
import { Picked } from './picked.js';
import { listOf } from './query.js';
import { number } from './time.js';

type Kind = 'clients' | 'tags';
interface Named {
  id: number;
  name: string;
}

/** Maximum number that is listed at once. */
const LISTED = 100;

async function ask(kind: Kind, query: { search?: string; include?: number[] }, signal: AbortSignal) {
  const params = { query: { ...query, per_page: LISTED } };
  const { data, total } = await (kind === 'clients'
    ? answer(api.GET('/clients', { params, signal }))
    : answer(api.GET('/tags', { params, signal })));
  return { data: data.map(({ id, name }): Named => ({ id, name })), total };
}

/** Those that match a search, with the chosen ones in front if they are not among them. */
function useOwners(kind: Kind, chosen: readonly number[]) {
  const [search, setSearch] = useState('');
  const all = useLoad(`owners:${kind}`, (signal) => ask(kind, {}, signal));
  const many = (all.data?.total ?? 0) > LISTED;
  const found = useLoad(
    many && search !== '' ? `owners:${kind}:${search}` : null,
    (signal) => ask(kind, { search }, signal),
    { keepShown: true },
  );
  const listed = (search === '' ? all.data : found.data)?.data ?? [];
  const others = chosen.filter((id) => !listed.some((one) => one.id === id));
  const named = useLoad(
    many && others.length > 0 ? `owners:${kind}:of:${others}` : null,
    (signal) => ask(kind, { include: others }, signal),
    { keepShown: true },
  );
  const absent = (named.data?.data ?? []).filter(({ id }) => others.includes(id));
  const total = (search === '' ? all.data : found.data)?.total ?? 0;
  return {
    items: [...absent, ...listed],
    none: all.data?.total === 0,
    searching: many && (
      <TextField
        hidden
        type="search"
        label={t.owners.search[kind]}
        placeholder={t.owners.search[kind]}
        value={search}
        onInput={setSearch}
      />
    ),
    hint: total > listed.length ? t.owners.first(number(listed.length), number(total)) : undefined,
  };
}

interface OneProps {
  kind: Kind;
  label: string;
  /** The word for none. */
  any: string;
  /** Id; '' = none. */
  value: string;
  onChange: (value: string) => void;
  hidden?: boolean;
  /** Of the field, for errors about it. */
  name?: string;
  /** What choosing one means. */
  word?: (name: string) => string;
}

/** Chooses one of them, or none. */
export function OwnerField({ kind, label, any, value, onChange, hidden = false, name, word = String }: OneProps) {
  const { items, none, searching, hint } = useOwners(kind, listOf(value).map(Number).filter(Number.isInteger));
  if (hidden && none) return null;
  return (
    <>
      {searching}
      <SelectField
        hidden={hidden}
        label={label}
        value={value}
        onChange={onChange}
        {...(name === undefined ? {} : { name })}
        options={[
          ['', any],
          ...items.map((one) => [String(one.id), word(one.name)] as const),
          ...(hint === undefined ? [] : [['more', hint, true] as const]),
        ]}
      />
    </>
  );
}

interface SomeProps extends Pick<OneProps, 'kind' | 'label' | 'any' | 'name'> {
  chosen: readonly number[];
  onChange: (chosen: readonly number[]) => void;
}

/** Chooses any number of them, one by one: in little space, however many there are. */
export function OwnerPicker({ kind, label, any, chosen, onChange, name }: SomeProps) {
  const { items, none, searching, hint } = useOwners(kind, chosen);
  if (none && chosen.length === 0) return null;
  const nameOf = (id: number) => items.find((one) => one.id === id)?.name ?? `#${id}`;
  return (
    <div>
      {searching}
      <SelectField
        label={label}
        value=""
        onChange={(value) => value !== '' && onChange([...chosen, Number(value)])}
        {...(name === undefined ? {} : { name })}
        options={[
          ['', chosen.length === 0 ? any : t.owners.another[kind]],
          ...items.filter(({ id }) => !chosen.includes(id)).map((one) => [String(one.id), one.name] as const),
          ...(hint === undefined ? [] : [['more', hint, true] as const]),
        ]}
      />
      <Picked keys={chosen} word={nameOf} remove={(id) => onChange(chosen.filter((one) => one !== id))} />
    </div>
  );
}

/** Chooses any number of tags. */
export function TagChecks({
  chosen,
  onChange,
}: {
  chosen: ReadonlySet<number>;
  onChange: (chosen: ReadonlySet<number>) => void;
}) {
  const { items, none, searching, hint } = useOwners('tags', [...chosen]);
  return (
    <fieldset class="choices">
      <legend>{t.sites.column.tags}</legend>
      {searching}
      {items.map(({ id, name }) => (
        <Check
          key={id}
          label={name}
          checked={chosen.has(id)}
          onChange={(on) => onChange(new Set(on ? [...chosen, id] : [...chosen].filter((one) => one !== id)))}
        />
      ))}
      {hint !== undefined && <p class="hint">{hint}</p>}
      {none && <p class="muted">{t.sites.noTags}</p>}
    </fieldset>
  );
}
