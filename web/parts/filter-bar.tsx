/** The filters of a list. On a phone all but the search are behind one button. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { Icon } from './icon.js';
import { SlidersHorizontal } from './icons.js';

interface Props {
  search: ComponentChildren;
  /** How many of the others are set. */
  set: number;
  children: ComponentChildren;
}

export function FilterBar({ search, set, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <search class="filters">
      {search}
      <button type="button" class="button plain fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon of={SlidersHorizontal} />
        <span>{t.filters(set)}</span>
      </button>
      <div class={open ? 'folded open' : 'folded'}>{children}</div>
    </search>
  );
}
