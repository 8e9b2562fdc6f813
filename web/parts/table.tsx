/** A table that becomes a list of cards on a phone, with the pages of the list below it. */

import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.js';
import { Pager, type PagerProps } from './pager.js';

interface Props {
  /** Column headings; null for a column of buttons. */
  heads: readonly (string | null)[];
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
                <th key={head} scope="col">
                  {head ?? <span class="unseen">{t.sites.actions}</span>}
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
