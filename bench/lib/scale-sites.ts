/**
 * The sites of the large-fleet simulation: the options and results of the process that plays them, and the address of
 * each site.
 */

export interface ScaleSitesSpec {
  sites: number;
  /** Sites that share one address, as on shared hosting. */
  perAddress: number;
  plugins: number;
  /** Milliseconds before each answer. */
  latencyMs: number;
  /** Ids of the sites that will be called by the child protocol: only these get content, which takes memory. */
  connected: readonly number[];
  publicKeys: readonly string[];
  /** Name of the dashboard the sites are connected to. */
  server: string;
}

export interface ScaleSitesReady {
  port: number;
}

export interface ScaleSitesCounts {
  /** Visits of front pages, and calls of the child protocol. */
  visits: number;
  calls: number;
  errors: string[];
}

/** Login of the administrator on every site, as `seedFleet` stores it. */
export const SCALE_ADMIN = 'admin';

/** The IP address of a site; neighbouring ids are on different addresses. Ids start at 1. */
export function addressOf(id: number, addresses: number): string {
  const place = (id - 1) % addresses;
  return `127.40.${Math.floor(place / 250)}.${(place % 250) + 1}`;
}

export function addressesFor({ sites, perAddress }: Pick<ScaleSitesSpec, 'sites' | 'perAddress'>): number {
  return Math.ceil(sites / perAddress);
}

/** URL of a site. Its folder counts from 0, as that of simulated sites does. */
export function scaleSiteUrl(id: number, addresses: number, port: number): string {
  return `http://${addressOf(id, addresses)}:${port}/site-${String(id - 1).padStart(4, '0')}/`;
}
