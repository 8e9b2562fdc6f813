/** The fleet as MCP resources: the same answers as the reading tools give, by address. Era-neutral. */

import type { Actor } from '../core/actor.js';
import { errorHelp, knownCode } from '../core/error-help.js';
import { ServiceError, STATUS } from '../core/errors.js';
import type { Caller } from '../operation/operation.js';
import type { ToolRegistry } from './registry.js';
import { type Page, RESOURCE_KINDS, type ResourceKind } from './resource-kinds.js';
import { hasText, type JsonObject, SITE_TEXT_NOTE } from './tool-result.js';

export interface ResourceEntry {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: 'application/json';
}

/** What is read: the answer, and after it what to make of the texts in it. */
export interface ResourceContent {
  [member: string]: unknown;
  uri: string;
  mimeType: 'application/json' | 'text/plain';
  text: string;
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

  /** A resource as JSON, with a note where sites may have written in it. Rejects with UnknownResource or ServiceError. */
  async read(uri: string, caller: Caller): Promise<ResourceContent[]> {
    const { kind, parts, page } = this.#find(uri, caller.actor);
    const contentOf = (answer: JsonObject) => ({
      uri,
      mimeType: 'application/json' as const,
      text: JSON.stringify(answer),
    });
    if (kind.operation === undefined) return [contentOf(describeError(parts[0] ?? '', uri))];
    try {
      const answer = await this.#registry.read(kind.operation, kind.input(parts, page), caller);
      const json = contentOf({ ...answer, ...nextPage(kind, answer) });
      return hasText(answer) ? [json, { uri, mimeType: 'text/plain', text: SITE_TEXT_NOTE }] : [json];
    } catch (error) {
      if (error instanceof ServiceError && ABSENT.has(error.code)) throw new UnknownResource(uri);
      throw error;
    }
  }

  #visible(actor: Actor): ResourceKind[] {
    return RESOURCE_KINDS.filter(({ operation }) => operation === undefined || this.#registry.offers(operation, actor));
  }

  #find(uri: string, actor: Actor): { kind: ResourceKind; parts: string[]; page: Page } {
    const [address = '', query = ''] = uri.slice(0, 2000).split('?', 2);
    for (const kind of this.#visible(actor)) {
      const match = kind.match.exec(address);
      const parts = match?.slice(1).map(decoded);
      if (parts === undefined || parts.includes(undefined)) continue;
      const search = new URLSearchParams(query);
      const page = Object.fromEntries([...search].filter(([name]) => name === 'page' || name === 'per_page'));
      return { kind, parts: parts as string[], page };
    }
    throw new UnknownResource(uri);
  }
}

/** Lists of resources have no `truncated` of their own to say where the rest is: they name its address. */
function nextPage(kind: ResourceKind, { page, per_page, total }: JsonObject): JsonObject {
  if (typeof page !== 'number' || typeof per_page !== 'number' || typeof total !== 'number') return {};
  return page * per_page >= total ? {} : { next: `${kind.uri}?page=${page + 1}&per_page=${per_page}` };
}

function describeError(text: string, uri: string): JsonObject {
  const code = knownCode(text);
  if (code === undefined) throw new UnknownResource(uri);
  return { code, status: STATUS[code], ...errorHelp(code) };
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
