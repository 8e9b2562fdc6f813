/** Names of sites, with the address where several of a list have the same name. */

import { t } from '../texts/texts.js';

interface Named {
  name: string;
  url: string;
}

/** How to call each site of this list. */
export function distinctNames(sites: readonly Named[]): (site: Named) => string {
  const counts = new Map<string, number>();
  for (const { name } of sites) counts.set(name, (counts.get(name) ?? 0) + 1);
  return ({ name, url }) => ((counts.get(name) ?? 0) > 1 ? `${name} (${t.address(url)})` : name);
}
