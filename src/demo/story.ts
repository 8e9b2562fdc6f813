/** The story of the demo: which site plays which part, and the agency around them. All names are invented. */

import type { Faults } from './faults.js';
import { inactivePlugin, offer } from './inventory.js';
import type { DemoSite } from './site.js';
import type { PluginState } from './state.js';

/** The parts, in order of importance: a small fleet has the first ones only. */
const CAST = [
  /** An update is available that breaks it. */
  'broken_update',
  /** The same update is available here. */
  'same_update',
  /** An update broke it this morning, and was rolled back. */
  'rolled_back',
  /** It worked after its update, and broke later: the copy of the old version still exists. */
  'broke_later',
  /** An update that cannot be downloaded. */
  'failed_update',
  /** Down for hours. */
  'down',
  /** Its certificate expires soon. */
  'certificate_ends',
  /** Its domain expires soon. */
  'domain_ends',
] as const;

/** What a simulated site demonstrates. */
export type Part = (typeof CAST)[number];

/** The first sites stay ordinary, if there are enough. */
const ORDINARY = 3;

/** Assigns the parts. A fleet smaller than the cast leaves the last parts out. */
export function castOf(sites: readonly DemoSite[]): Map<Part, DemoSite> {
  const first = sites.length >= ORDINARY + CAST.length ? ORDINARY : 0;
  return new Map(
    CAST.flatMap((part, i) => {
      const site = sites[first + i];
      return site === undefined ? [] : [[part, site] as const];
    }),
  );
}

interface StagedUpdate {
  slug: string;
  name: string;
  author: string;
  from: string;
  to: string;
}

/** None of them exists: no real plugin is accused of breaking sites. */
export const STAGED = {
  broken_update: staged('harbour-forms/harbour-forms.php', 'Harbour Forms', '3.8.2', '3.9.0'),
  rolled_back: staged('lantern-gallery/lantern-gallery.php', 'Lantern Gallery', '2.4.6', '2.5.0'),
  broke_later: staged('tideline-booking/tideline-booking.php', 'Tideline Booking', '1.17.3', '1.18.0'),
  failed_update: staged('copperfield-seo-pro/copperfield-seo-pro.php', 'Copperfield SEO Pro', '5.2.0', '5.3.1'),
} as const;

function staged(slug: string, name: string, from: string, to: string): StagedUpdate {
  return { slug, name, author: 'Invented for the demo', from, to };
}

/** A version with a known vulnerability, on every eighth site; the update fixes it. */
const VULNERABLE = staged('compass-newsletter/compass-newsletter.php', 'Compass Newsletter', '1.9.4', '1.9.6');

/** Its known vulnerability, in the format of Wordfence Intelligence v3. */
export function vulnerabilityFeed(): string {
  const id = '00000000-de30-4000-8000-000000000001';
  const affected = { from_version: '1.0.0', from_inclusive: true, to_version: '1.9.5', to_inclusive: true };
  const entry = {
    id,
    title: 'Compass Newsletter <= 1.9.5 - Unauthenticated SQL Injection (invented for the demo)',
    software: [
      {
        type: 'plugin',
        name: VULNERABLE.name,
        slug: 'compass-newsletter',
        affected_versions: { '1.0.0 - 1.9.5': affected },
        patched: true,
        patched_versions: ['1.9.6'],
        remediation: 'Update to version 1.9.6, or a newer patched version',
      },
    ],
    informational: false,
    description: '',
    references: [],
    cvss: { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8, rating: 'Critical' },
    cve: null,
    cve_link: null,
    published: '2026-01-12 09:00:00',
    updated: '2026-01-12 09:00:00',
    copyrights: {},
  };
  return JSON.stringify({ [id]: entry });
}

/** Installs the plugins of the story on the sites, before they are connected. */
export function setTheStage(sites: readonly DemoSite[], cast: ReadonlyMap<Part, DemoSite>): void {
  for (const site of sites)
    if (site.index % 8 === 0) site.state.plugins = [...site.state.plugins, installed(VULNERABLE)];
  const put = (part: Part, update: StagedUpdate, faults: Faults) => {
    const site = cast.get(part);
    if (site === undefined) return;
    site.state.plugins = [...site.state.plugins, installed(update)];
    Object.assign(site.faults, faults);
  };
  const fatal = ({ slug, to }: StagedUpdate) => ({ breaks: { [`${slug}@${to}`]: 'fatal' as const } });
  put('broken_update', STAGED.broken_update, fatal(STAGED.broken_update));
  put('same_update', STAGED.broken_update, fatal(STAGED.broken_update));
  put('rolled_back', STAGED.rolled_back, fatal(STAGED.rolled_back));
  put('broke_later', STAGED.broke_later, {});
  put('failed_update', STAGED.failed_update, { failUpdates: [STAGED.failed_update.slug] });
}

function installed({ slug, name, author, from, to }: StagedUpdate): PluginState {
  const basis = inactivePlugin([slug, name, from, author, `${name} exists only in this demo.`]);
  return { ...basis, active: true, update: offer(to) };
}

/** From now on visitors of the site get an error page; the child plugin still responds. */
export function breakFrontPage(site: DemoSite, update: Pick<StagedUpdate, 'slug' | 'to'>): void {
  site.faults.breaks = { ...site.faults.breaks, [`${update.slug}@${update.to}`]: 'front' };
}

export const CLIENTS = [
  { name: 'Lindqvist Holding', client_email: 'office@lindqvist.example', city: 'Malmö', country: 'Sweden' },
  { name: 'Moreau et Filles', client_email: 'bonjour@moreau.example', city: 'Lyon', country: 'France' },
  { name: 'Okafor Foods', client_email: 'hello@okafor.example', city: 'Leeds', country: 'United Kingdom' },
  { name: 'Praxisverbund Nord', client_email: 'praxis@verbund-nord.example', city: 'Kiel', country: 'Germany' },
  { name: 'Silva & Rossi', client_email: 'ciao@silva-rossi.example', city: 'Porto', country: 'Portugal' },
] as const;

export const TAGS = [
  { name: 'Shop', color: '#2e7d32' },
  { kind: 'income', name: 'Care plan', color: '#1565c0' },
  { name: 'Hosting by us', color: '#6a1b9a' },
  { name: 'Relaunch', color: '#ef6c00' },
] as const;

/** Positions in `CLIENTS` and `TAGS`; a few sites have no client, a few no tag. */
export function belongings(index: number): { client: number | null; tags: number[] } {
  const client = index % 6 === 5 ? null : index % CLIENTS.length;
  const tags = [...(index % 4 === 1 ? [0] : []), ...(index % 3 === 0 ? [1] : []), ...(index % 5 === 2 ? [2] : [])];
  return { client, tags: index % 9 === 4 ? [...tags, 3] : tags };
}

/** Prices are decimals in the dashboard's currency; `tags` and `clients` are positions in the lists above. */
export const COSTS = [
  {
    kind: 'cost',
    name: 'Managed hosting',
    price: '24.00',
    renewal_type: 'monthly',
    days_ago: 12,
    tags: [2],
    clients: [],
  },
  { kind: 'income', name: 'Care plan', price: '49.00', renewal_type: 'monthly', days_ago: 3, tags: [1], clients: [] },
  {
    kind: 'cost',
    name: 'Shop extensions',
    price: '179.00',
    renewal_type: 'yearly',
    days_ago: 201,
    tags: [0],
    clients: [],
  },
  {
    kind: 'cost',
    name: 'Backup storage',
    price: '90.00',
    renewal_type: 'quarterly',
    days_ago: 44,
    tags: [],
    clients: [0],
  },
  {
    kind: 'cost',
    name: 'Consent manager',
    price: '9.90',
    renewal_type: 'monthly',
    days_ago: 20,
    tags: [],
    clients: [1, 3],
  },
] as const;
