/** Divides the sites of a plan into waves. Pure, so that the same fleet is always divided alike. */

interface WaveSite {
  site_id: number;
  /** The versions that it would get. */
  items: readonly string[];
  down: boolean;
  guarded: boolean;
  /** An update was in trouble there lately, and on no other site. */
  troubled: boolean;
  /** The lowest is the first canary; undefined = it is not known, and the site is none. */
  rank?: number | undefined;
}

/** Of the sites after the canaries: the shares of the second and the third wave; the last takes the rest. */
const SHARES = [0.1, 0.3] as const;
/** So few are one wave. */
const FEW = 5;

/** How many canaries there are without being told. */
function standardCanaries(sites: number): number {
  return sites <= 3 ? 1 : Math.min(Math.max(3, Math.ceil(sites * 0.02)), Math.ceil(sites / 2));
}

/**
 * The sites that may be canaries, and how many of them are asked for.
 * @param canaries undefined = all of the candidates, or of any sites a standard number
 * @param candidates undefined = any
 */
export function canariesAsked<S extends { site_id: number }>(
  sites: readonly S[],
  canaries: number | undefined,
  candidates: ReadonlySet<number> | undefined,
): { able: readonly S[]; count: number } {
  const able = candidates === undefined ? sites : sites.filter(({ site_id }) => candidates.has(site_id));
  const wanted = canaries ?? (candidates === undefined ? standardCanaries(sites.length) : able.length);
  return { able, count: Math.min(wanted, able.length) };
}

/**
 * The waves as lists of site ids; none is empty.
 * @param canaries how many of the candidates are the first wave; undefined = all of them
 * @param candidates of these sites; undefined = of any
 * @param sizes of the waves after it; empty = by shares
 * @param ranked the canaries are those with the lowest ranks, and there are fewer if too few have one
 */
export function divided(
  sites: readonly WaveSite[],
  {
    canaries,
    candidates,
    sizes,
    ranked = false,
  }: {
    canaries: number | undefined;
    candidates: ReadonlySet<number> | undefined;
    sizes: readonly number[];
    ranked?: boolean;
  },
): number[][] {
  const { able, count } = canariesAsked(sites, canaries, candidates);
  const first = ranked ? lowestOf(able, count) : canariesOf(able, count);
  const chosen = new Set(first);
  const others = sites.filter(({ site_id }) => !chosen.has(site_id));
  const idsOf = (some: readonly WaveSite[]) => some.map(({ site_id }) => site_id);
  const rest = idsOf(others.filter(({ troubled }) => !troubled));
  const given =
    sizes.length > 0 ? sizes : rest.length <= FEW ? [] : SHARES.map((share) => Math.ceil(rest.length * share));
  const waves = [first];
  let at = 0;
  for (const size of given) {
    waves.push(rest.slice(at, at + size));
    at += size;
  }
  waves.push(rest.slice(at));
  // What one site says must not keep a version from the others: it has its turn when they had theirs.
  waves.push(idsOf(others.filter(({ troubled }) => troubled)));
  return waves.filter((wave) => wave.length > 0);
}

/** Sites that are well first; of those, the ones with the lowest rank. */
function lowestOf(sites: readonly WaveSite[], count: number): number[] {
  return sites
    .flatMap((site) => (site.rank === undefined ? [] : [{ ...site, place: site.rank }]))
    .sort((a, b) => illness(a) - illness(b) || a.place - b.place || a.site_id - b.site_id)
    .slice(0, count)
    .map(({ site_id }) => site_id)
    .sort((a, b) => a - b);
}

/**
 * Sites that are well first; of those, whichever tries most versions that no other canary tries, with a guard if possible. A
 * version that no other site of the plan gets is tried for none.
 */
function canariesOf(sites: readonly WaveSite[], count: number): number[] {
  const left = [...sites]
    .sort((a, b) => rank(a) - rank(b) || a.site_id - b.site_id)
    .map((site) => ({ ...site, ill: illness(site), news: site.items.length }));
  // By version the sites that would get it: each version is looked at once, however many canaries there are.
  const untried = new Map<string, (typeof left)[number][]>();
  for (const site of left)
    for (const item of site.items) {
      const having = untried.get(item);
      if (having === undefined) untried.set(item, [site]);
      else having.push(site);
    }
  for (const [item, [only, another]] of untried)
    if (only !== undefined && another === undefined) {
      only.news--;
      untried.delete(item);
    }
  const chosen: number[] = [];
  while (chosen.length < count && left.length > 0) {
    let best = 0;
    for (let at = 1; at < left.length; at++) {
      // Only among those that are well, or else among those that are not.
      if (left[at]?.ill !== left[0]?.ill) break;
      if ((left[at]?.news ?? 0) > (left[best]?.news ?? 0)) best = at;
    }
    const [site] = left.splice(best, 1);
    if (site === undefined) break;
    for (const item of site.items) {
      for (const other of untried.get(item) ?? []) other.news--;
      untried.delete(item);
    }
    chosen.push(site.site_id);
  }
  return chosen.sort((a, b) => a - b);
}

function illness({ down, troubled }: WaveSite): number {
  return (down ? 2 : 0) + (troubled ? 1 : 0);
}

function rank(site: WaveSite): number {
  return illness(site) * 2 + (site.guarded ? 0 : 1);
}
