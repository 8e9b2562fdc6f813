/** Rows of clients, and the inputs and results of their writes. */

import type { Row } from '../driver/db.js';

/** Text columns a caller may set. */
export const CLIENT_TEXTS = [
  'name',
  'email',
  'phone',
  'address_1',
  'address_2',
  'city',
  'state',
  'zip',
  'country',
  'note',
] as const;
export type ClientTexts = Record<(typeof CLIENT_TEXTS)[number], string>;

export interface ClientItemRow extends Row, Pick<ClientTexts, 'name' | 'email' | 'phone'> {
  id: number;
  suspended: number;
  sites_count: number;
  created_at: number;
}

export interface ClientRow extends ClientItemRow, ClientTexts {
  updated_at: number;
  /** Buckets of hours that serve this client alone. */
  own_buckets: number;
  /** Sites of it that are suspended, with it or each alone. */
  suspended_sites: number;
}

export interface ClientFilter {
  suspended?: boolean | undefined;
  /** Case-insensitive substring of name or e-mail; blank = no filter. */
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
}

export type ClientKey = { id: number } | { email: string };

/** `missing`: ids of the wanted sites that do not exist; then nothing was written. */
export type ClientWrite =
  | { outcome: 'stored'; client: ClientRow }
  | { outcome: 'email_taken' }
  | { outcome: 'no_client' }
  | { outcome: 'no_site'; missing: number[] };
