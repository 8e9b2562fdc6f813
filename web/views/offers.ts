/** Converts available updates from the interface's form, by type and slug, into one list. */

export interface Offer {
  key: string;
  type: 'core' | 'plugin' | 'theme' | 'translation';
  /** The type by which updates are requested. */
  group: 'core' | 'plugins' | 'themes' | 'translations';
  slug: string;
  name: string;
  current: string;
  next: string;
  level: 'major' | 'minor' | 'patch' | null;
  /** Known vulnerabilities it fixes. */
  fixes: readonly string[];
}

interface Listed {
  Name: string;
  current_version: string;
  new_version: string;
  fixes?: readonly string[];
}

interface OffersOfSite {
  wp?: Record<string, Listed>;
  plugins?: Record<string, Listed>;
  themes?: Record<string, Listed>;
  translations?: Record<string, Listed>;
}

const GROUPS = [
  ['wp', 'core', 'core'],
  ['plugins', 'plugin', 'plugins'],
  ['themes', 'theme', 'themes'],
  ['translations', 'translation', 'translations'],
] as const;

export function offersOf(offers: OffersOfSite): Offer[] {
  return GROUPS.flatMap(([member, type, group]) =>
    Object.entries(offers[member] ?? {}).map(([slug, { Name, current_version, new_version, fixes = [] }]) => ({
      key: `${type} ${slug}`,
      type,
      group,
      slug,
      name: Name,
      current: current_version,
      next: new_version,
      level: levelOf(current_version, new_version),
      fixes,
    })),
  );
}

/** Which number of the version changes: the first (major), the second (minor), or a later one (patch). */
function levelOf(current: string, next: string): Offer['level'] {
  if (current === '' || next === '') return null;
  const number = (version: string, part: number) =>
    Number.parseInt(version.replace(/^v/i, '').split('.')[part] ?? '0', 10) || 0;
  if (number(current, 0) !== number(next, 0)) return 'major';
  return number(current, 1) === number(next, 1) ? 'patch' : 'minor';
}
