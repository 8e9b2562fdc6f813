/** HTML templates that escape what is inserted: a text of a site or of a third party never becomes markup. */

import * as hono from 'hono/html';

/** Finished markup: inserted into a template as it is. `String(…)` turns the whole into text. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

/** Texts are escaped; null, undefined and false are left out; lists are inserted one after the other. */
type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Markup with parts inserted: as element content or inside a quoted attribute. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  // Only a template with a promise among its parts returns a promise.
  return hono.html(strings, ...parts) as Html;
}

/** Marks a text of our own as finished markup. */
export function raw(markup: string): Html {
  return hono.raw(markup);
}
