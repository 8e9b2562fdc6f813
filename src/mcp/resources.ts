/** The fleet as MCP resources: the same answers as the reading tools give, by address. Era-neutral. */

import type { Actor } from '../context.js';
import { errorHelp, knownCode } from '../error-help.js';
import { ServiceError, STATUS } from '../errors.js';
import type { Caller } from '../operation.js';
import type { Answer } from './answer.js';
import type { ToolRegistry } from './registry.js';

interface Kind {
  /** Address, or template of addresses after RFC 6570. */
  uri: string;
  name: string;
  title: string;
  description: string;
  /** Operation that answers it; undefined for what needs no right. */
  operation?: string;
  match: RegExp;
  /** Input of the operation from the parts of the address. */
  input(parts: readonly string[], page: Page): Answer;
}

interface Page {
  page?: string;
  per_page?: string;
}

const WHOLE_PAGE = 100;
const paged = ({ page, per_page }: Page): Answer => ({ page: page ?? 1, per_page: per_page ?? WHOLE_PAGE });

const KINDS: readonly Kind[] = [
  {
    uri: 'svc://sites',
    name: 'sites',
    title: 'All sites',
    description: 'Sites with their status, in pages: ?page=2.',
    operation: 'svc/list-sites-v1',
    match: /^svc:\/\/sites$/,
    input: (_parts, page) => paged(page),
  },
  {
    uri: 'svc://updates',
    name: 'updates',
    title: 'Available updates',
    description: 'Updates on offer for all sites, in pages: ?page=2.',
    operation: 'svc/list-updates-v1',
    match: /^svc:\/\/updates$/,
    input: (_parts, page) => paged(page),
  },
  {
    uri: 'svc://tags',
    name: 'tags',
    title: 'All tags',
    description: 'Tags with their number of sites, in pages: ?page=2.',
    operation: 'svc/list-tags-v1',
    match: /^svc:\/\/tags$/,
    input: (_parts, page) => paged(page),
  },
  {
    uri: 'svc://sites/{id}',
    name: 'site',
    title: 'One site',
    description: 'A site with its counts of updates; id or domain.',
    operation: 'svc/get-site-v1',
    match: /^svc:\/\/sites\/([^/]+)$/,
    input: ([id]) => ({ site_id_or_domain: reference(id), include_stats: true }),
  },
  {
    uri: 'svc://sites/{id}/updates',
    name: 'site-updates',
    title: 'Updates of one site',
    description: 'Updates on offer for a site as of its last sync; id or domain.',
    operation: 'svc/get-site-updates-v1',
    match: /^svc:\/\/sites\/([^/]+)\/updates$/,
    input: ([id]) => ({ site_id_or_domain: reference(id) }),
  },
  {
    uri: 'svc://clients/{id}',
    name: 'client',
    title: 'One client',
    description: 'A client with contact and number of sites; id or e-mail.',
    operation: 'svc/get-client-v1',
    match: /^svc:\/\/clients\/([^/]+)$/,
    input: ([id]) => ({ client_id_or_email: reference(id) }),
  },
  {
    uri: 'svc://jobs/{id}',
    name: 'job',
    title: 'One job',
    description: 'How far a queued job is. Subscribe to be told of each step.',
    operation: 'svc/get-batch-job-status-v1',
    match: /^svc:\/\/jobs\/([^/]+)$/,
    input: ([id]) => ({ job_id: id }),
  },
  {
    uri: 'svc://errors/{code}',
    name: 'error',
    title: 'One error code',
    description: 'What an error code means and what to do next.',
    match: /^svc:\/\/errors\/([^/]+)$/,
    input: () => ({}),
  },
];

export interface ResourceEntry {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: 'application/json';
}

export type TemplateEntry = Omit<ResourceEntry, 'uri'> & { uriTemplate: string };

/** There is nothing at this address, for this caller. */
export class UnknownResource extends Error {
  constructor(readonly uri: string) {
    super('There is no resource at this address.');
    this.name = 'UnknownResource';
  }
}

/** Codes that mean: the thing itself is not there. */
const ABSENT: ReadonlySet<string> = new Set([
  'svc_site_not_found',
  'svc_client_not_found',
  'svc_job_not_found',
  'svc_access_denied',
]);

export class Resources {
  readonly #registry: ToolRegistry;

  constructor(registry: ToolRegistry) {
    this.#registry = registry;
  }

  list(actor: Actor): ResourceEntry[] {
    return this.#visible(actor)
      .filter(({ uri }) => !uri.includes('{'))
      .map(({ uri, name, title, description }) => ({ uri, name, title, description, mimeType: 'application/json' }));
  }

  templates(actor: Actor): TemplateEntry[] {
    return this.#visible(actor)
      .filter(({ uri }) => uri.includes('{'))
      .map(({ uri, name, title, description }) => ({
        uriTemplate: uri,
        name,
        title,
        description,
        mimeType: 'application/json',
      }));
  }

  /** JSON text of a resource. Rejects with UnknownResource or ServiceError. */
  async read(uri: string, caller: Caller): Promise<string> {
    const { kind, parts, page } = this.#find(uri, caller.actor);
    if (kind.operation === undefined) return JSON.stringify(describeError(parts[0] ?? '', uri));
    try {
      const answer = await this.#registry.read(kind.operation, kind.input(parts, page), caller);
      return JSON.stringify({ ...answer, ...nextPage(kind, answer) });
    } catch (error) {
      if (error instanceof ServiceError && ABSENT.has(error.code)) throw new UnknownResource(uri);
      throw error;
    }
  }

  #visible(actor: Actor): Kind[] {
    return KINDS.filter(({ operation }) => operation === undefined || this.#registry.offers(operation, actor));
  }

  #find(uri: string, actor: Actor): { kind: Kind; parts: string[]; page: Page } {
    const [address = '', query = ''] = uri.slice(0, 2000).split('?', 2);
    for (const kind of this.#visible(actor)) {
      const match = kind.match.exec(address);
      const parts = match?.slice(1).map(decoded);
      if (parts === undefined || parts.includes(undefined)) continue;
      const asked = new URLSearchParams(query);
      const page = Object.fromEntries([...asked].filter(([name]) => name === 'page' || name === 'per_page'));
      return { kind, parts: parts as string[], page };
    }
    throw new UnknownResource(uri);
  }
}

/** Lists of resources have no `truncated` of their own to say where the rest is: they name its address. */
function nextPage(kind: Kind, { page, per_page, total }: Answer): Answer {
  if (typeof page !== 'number' || typeof per_page !== 'number' || typeof total !== 'number') return {};
  return page * per_page >= total ? {} : { next: `${kind.uri}?page=${page + 1}&per_page=${per_page}` };
}

function describeError(text: string, uri: string): Answer {
  const code = knownCode(text);
  if (code === undefined) throw new UnknownResource(uri);
  return { code, status: STATUS[code], ...errorHelp(code) };
}

/** Digits name a row, anything else a domain or e-mail. */
function reference(text: string | undefined): number | string {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : (text ?? '');
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Job of an address that can be subscribed to. */
export function jobOf(uri: string): string | undefined {
  const id = /^svc:\/\/jobs\/([^/?]{1,100})$/.exec(uri)?.[1];
  return id === undefined ? undefined : decoded(id);
}
