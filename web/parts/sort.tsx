/** Headings that sort a list; on a phone, where there are none, a choice of the order. */

import { t } from '../texts/texts.js';
import { SelectField } from './field.js';
import { Icon } from './icon.js';
import { ArrowDown, ArrowUp } from './icons.js';

interface Sorted {
  orderby: string;
  order: 'asc' | 'desc';
}

interface HeadProps {
  by: string;
  word: string;
  of: Sorted;
  sort: (next: Sorted) => void;
  /** What is most, newest or worst comes first when it is chosen. */
  falling?: boolean;
}

export function SortHead({ by, word, of, sort, falling = false }: HeadProps) {
  const sorted = of.orderby === by;
  const first = falling ? 'desc' : 'asc';
  const next = sorted ? (of.order === 'asc' ? 'desc' : 'asc') : first;
  return (
    <th scope="col" class={by} aria-sort={sorted ? (of.order === 'asc' ? 'ascending' : 'descending') : 'none'}>
      <button type="button" class="sort" onClick={() => sort({ orderby: by, order: next })}>
        {word}
        {sorted && <Icon of={of.order === 'asc' ? ArrowUp : ArrowDown} />}
      </button>
    </th>
  );
}

interface ChoiceProps {
  of: Sorted;
  sort: (next: Sorted) => void;
  options: readonly (readonly [by: string, word: string])[];
  falling: readonly string[];
}

export function SortChoice({ of, sort, options, falling }: ChoiceProps) {
  return (
    <div class="phone">
      <SelectField
        hidden
        label={t.sites.sort}
        value={of.orderby}
        onChange={(by) => sort({ orderby: by, order: falling.includes(by) ? 'desc' : 'asc' })}
        options={options.map(([by, word]) => [by, `${t.sites.sort}: ${word}`] as const)}
      />
    </div>
  );
}
