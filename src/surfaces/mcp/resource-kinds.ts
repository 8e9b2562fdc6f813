/** The kinds of MCP resources: address, description, and the reading operation behind each. */

import type { Operation } from '../../operation/operation.js';
import { READ_PICTURES, READ_RECEIPTS } from './run-files.js';
import type { JsonObject } from './tool-result.js';

/** One kind of resource. */
export interface ResourceKind {
  /** URI, or URI template (RFC 6570). */
  uri: string;
  name: string;
  title: string;
  description: string;
  /** Operation that reads it; undefined for a kind that needs no right. */
  operation?: string;
  /** Reads it as files, for those who are offered `operation`; undefined for a kind that is the answer of `operation`. */
  files?: { of: Operation; mimeType: string };
  /** Matches a URI of this kind, with its variables. */
  match: RegExp;
  /** Input of the operation from the variables of the URI. */
  input(parts: readonly string[], page: Page): JsonObject;
}

export interface Page {
  page?: string;
  per_page?: string;
}

const WHOLE_PAGE = 100;
const paged = ({ page, per_page }: Page): JsonObject => ({ page: page ?? 1, per_page: per_page ?? WHOLE_PAGE });

const KINDS: readonly Omit<ResourceKind, 'match'>[] = [
  {
    uri: 'svc://brief',
    name: 'brief',
    title: 'Fleet brief',
    description: 'What needs attention now, and what was done in the last 24 hours.',
    operation: 'svc/get-fleet-brief-v1',
    input: () => ({}),
  },
  {
    uri: 'svc://sites',
    name: 'sites',
    title: 'All sites',
    description: 'Sites with their status, in pages: ?page=2.',
    operation: 'svc/list-sites-v1',
    input: (_parts, page) => paged(page),
  },
  {
    uri: 'svc://updates',
    name: 'updates',
    title: 'Available updates',
    description: 'Updates on offer for all sites, in pages: ?page=2.',
    operation: 'svc/list-updates-v1',
    input: (_parts, page) => paged(page),
  },
  {
    uri: 'svc://tags',
    name: 'tags',
    title: 'All tags',
    description: 'Tags with their number of sites, in pages: ?page=2.',
    operation: 'svc/list-tags-v1',
    input: (_parts, page) => paged(page),
  },
  {
    uri: 'svc://sites/{id}',
    name: 'site',
    title: 'One site',
    description: 'A site with its counts of updates; id or domain.',
    operation: 'svc/get-site-v1',
    input: ([id]) => ({ site_id_or_domain: reference(id), include_stats: true }),
  },
  {
    uri: 'svc://sites/{id}/updates',
    name: 'site-updates',
    title: 'Updates of one site',
    description: 'Updates on offer for a site as of its last sync; id or domain.',
    operation: 'svc/get-site-updates-v1',
    input: ([id]) => ({ site_id_or_domain: reference(id) }),
  },
  {
    uri: 'svc://clients/{id}',
    name: 'client',
    title: 'One client',
    description: 'A client with contact and number of sites; id or e-mail.',
    operation: 'svc/get-client-v1',
    input: ([id]) => ({ client_id_or_email: reference(id) }),
  },
  {
    uri: 'svc://jobs/{id}',
    name: 'job',
    title: 'One job',
    description: "A queued job's progress. Subscribe to be notified of each step.",
    operation: 'svc/get-batch-job-status-v1',
    input: ([id]) => ({ job_id: id }),
  },
  {
    uri: 'svc://runs/{id}/receipts',
    name: 'run-receipts',
    title: 'Receipts of a run',
    description:
      'What a run of updates did and what was looked at, signed, one receipt for each site: ?page=2 after 100.',
    operation: 'svc/get-run-v1',
    files: { of: READ_RECEIPTS, mimeType: 'application/json' },
    input: ([id], { page }) => ({ run_id: id, page: page ?? 1 }),
  },
  {
    uri: 'svc://runs/{id}/pictures/{site}',
    name: 'run-pictures',
    title: 'Pictures of a site in a run',
    description: 'Pages of a site before and after its updates; id of the site.',
    operation: 'svc/get-run-v1',
    files: { of: READ_PICTURES, mimeType: 'image/webp' },
    input: ([id, site]) => ({ run_id: id, site }),
  },
  {
    uri: 'svc://errors/{code}',
    name: 'error',
    title: 'One error code',
    description: 'What an error code means and what to do next.',
    input: () => ({}),
  },
];

export const RESOURCE_KINDS: readonly ResourceKind[] = KINDS.map((kind) => ({
  ...kind,
  match: new RegExp(`^${kind.uri.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
}));

/** Digits are a row id, anything else is a domain or e-mail. */
function reference(text: string | undefined): number | string {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : (text ?? '');
}
