/** What the plan of updates is narrowed to: kinds, sizes, a client, tags and a search, kept in the address. */

import { Chips } from '../parts/chips.js';
import { SearchField } from '../parts/field.js';
import { FilterBar } from '../parts/filter-bar.js';
import { OwnerField } from '../parts/owners.js';
import { listOf, type Query, useTyped } from '../parts/query.js';
import { t } from '../texts/texts.js';
import { TYPES } from './update-item.js';

export const LEVELS = ['patch', 'minor', 'major'] as const;
/** WordPress itself cannot be rolled back: it is chosen on purpose. */
const STANDARD = TYPES.filter((type) => type !== 'core');

/** The choices of the address; what is wrong in it is ignored. */
export function filtersOf(query: Query) {
  const id = (text: string | undefined) => (text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined);
  const chosen = <T extends string>(text: string | undefined, of: readonly T[], otherwise: readonly T[]) => {
    const found = of.filter((one) => listOf(text).includes(one));
    return found.length === 0 ? otherwise : found;
  };
  return {
    types: chosen(query.type, TYPES, STANDARD),
    levels: chosen(query.level, LEVELS, LEVELS),
    client: id(query.client),
    tag: id(query.tag),
    without: id(query.without),
    search: query.search ?? '',
  };
}

export type Filters = ReturnType<typeof filtersOf>;

/** Filters that both the plan and the run take. */
export function narrowed({ levels, client, tag, without, search }: Filters) {
  return {
    ...(levels.length === LEVELS.length ? {} : { level: [...levels] }),
    ...(client === undefined ? {} : { client_ids: [client] }),
    ...(tag === undefined ? {} : { tag_ids: [tag] }),
    ...(without === undefined ? {} : { exclude_tag_ids: [without] }),
    ...(search === '' ? {} : { search }),
  };
}

interface ChoicesProps {
  query: Query;
  filters: Filters;
  filter: (members: Record<string, string | undefined>) => void;
}

/** Kinds, sizes, a client, tags and a search. The last kind or size that is left stays. */
export function Choices({ query, filters, filter }: ChoicesProps) {
  const [typed, setTyped] = useTyped(query.search ?? '', (search) => filter({ search }));
  const set = [query.type, query.level, query.client, query.tag, query.without].filter(
    (one) => one !== undefined,
  ).length;
  return (
    <FilterBar search={<SearchField label={t.updates.search} value={typed} onInput={setTyped} />} set={set}>
      <Chips
        label={t.updates.kind}
        all={TYPES}
        chosen={filters.types}
        word={(type) => t.plan.kind[type]}
        choose={(types) => filter({ type: types.join() === STANDARD.join() ? undefined : types.join() })}
      />
      <Chips
        label={t.updates.level}
        all={LEVELS}
        chosen={filters.levels}
        word={(level) => t.level[level]}
        choose={(levels) => filter({ level: levels.length === LEVELS.length ? undefined : levels.join() })}
      />
      <OwnerField
        hidden
        kind="clients"
        label={t.sites.client}
        any={t.sites.anyClient}
        value={query.client ?? ''}
        onChange={(client) => filter({ client })}
      />
      <OwnerField
        hidden
        kind="tags"
        label={t.sites.tag}
        any={t.sites.anyTag}
        value={query.tag ?? ''}
        onChange={(tag) => filter({ tag })}
      />
      <OwnerField
        hidden
        kind="tags"
        label={t.plan.withoutTag}
        any={t.plan.withoutTag}
        word={t.plan.without}
        value={query.without ?? ''}
        onChange={(without) => filter({ without })}
      />
    </FilterBar>
  );
}
