/** What texts of the interface advise to call, in words of this page: its readers press buttons. */

import { t } from '../texts/texts.js';

const ROUTE = /\b(?:GET|POST|PUT|PATCH|DELETE) \/v2\/[\w{}./-]*[\w}]/g;
/** A part of a path that stands for one record. */
const RECORD = /\/(?:\{\w+\}|\d+)(?=\/|$)/g;

/** A text with buttons and lists of the page in place of routes; JSON stays JSON. */
export function inPageWords(text: string): string {
  if (!text.includes(' /v2/')) return text;
  const words: Readonly<Record<string, string>> = t.routes;
  return text.replace(ROUTE, (route) => words[route.replace(RECORD, '/{}')] ?? route);
}
