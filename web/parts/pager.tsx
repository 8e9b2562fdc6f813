/** Pages of a list. The page number is kept in the address. */

import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { ChevronLeft, ChevronRight } from './icons.js';
import { number } from './time.js';

export interface PagerProps {
  page: number;
  perPage: number;
  total: number;
  go: (page: number) => void;
  /** What it pages, where a list has two. */
  of?: string;
}

export function Pager({ page, perPage, total, go, of }: PagerProps) {
  if (total <= perPage) return null;
  const pages = Math.ceil(total / perPage);
  const from = (page - 1) * perPage + 1;
  const to = Math.min(total, page * perPage);
  return (
    <nav class="pager" aria-label={of === undefined ? t.pager.label : `${t.pager.label}: ${of}`}>
      <Button small icon={ChevronLeft} disabled={page <= 1} onClick={() => go(page - 1)}>
        {t.pager.before}
      </Button>
      <span>
        {of} {t.pager.shown(number(from), number(to), number(total))}
      </span>
      <Button small icon={ChevronRight} disabled={page >= pages} onClick={() => go(page + 1)}>
        {t.pager.next}
      </Button>
    </nav>
  );
}
