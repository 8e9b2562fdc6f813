/** A table that is a list of cards on a phone, with the pages of the list below it. */

import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.js';
import { Pager, type PagerProps } from './pager.js';

interface Props {
  /** Headings of the columns; null for one of buttons. */
  heads: readonly (string | null)[];
  /** The rows. */
  children: ComponentChildren;
  pages?: PagerProps;
}

export function Table({ heads, children, pages }: Props) {
  return (
    <>
      <div class="scroll">
        <table class="list">
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col" aria-label={head === null ? t.sites.actions : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
      {pages && <Pager {...pages} />}
    </>
  );
}
