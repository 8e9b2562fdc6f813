/** The fleet as MCP resources: the same outputs as the reading tools return, by URI. Independent of the protocol revision. */

import type { Caller } from '../../operation/operation.js';
import { renamedIn } from '../../operation/operation-names.js';
import type { Actor } from '../../runtime/actor.js';
import { errorHelp, knownCode, STATUS } from '../../runtime/error-codes.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ToolRegistry } from './registry.js';
import { type Page, RESOURCE_KINDS, type ResourceKind } from './resource-kinds.js';
import type { FileContent } from './run-files.js';
import { hasSiteText, type JsonObject, SITE_TEXT_NOTE } from './tool-result.js';

/** One content of a resource: its JSON, the note on texts written by sites, or a file. */
export type ResourceContent =
  | { [member: string]: unknown; uri: string; mimeType: 'application/json' | 'text/plain'; text: string }
  | (FileContent & { uri: string; text?: never });

/** Thrown when there is no resource at this address for this caller. */
export class UnknownResource extends Error {
  constructor(readonly uri: string) {
    super('There is no resource with this URI.');
    this.name = 'UnknownResource';
  }
}

/** Error codes that mean that the resource does not exist. */
const ABSENT: ReadonlySet<string> = new Set([
  'svc_site_not_found',
  'svc_client_not_found',
  'svc_job_not_found',
  'svc_run_not_found',
]);

export class Resources {
  readonly #registry: ToolRegistry;

  constructor(registry: ToolRegistry) {
    this.#registry = registry;
  }

  list(actor: Actor) {
    return this.#visible(actor)
      .filter(({ uri }) => !uri.includes('{'))
      .map(({ uri, name, title, description }) => ({ uri, name, title, description, mimeType: 'application/json' }));
  }

  templates(actor: Actor) {
    return this.#visible(actor)
      .filter(({ uri }) => uri.includes('{'))
      .map(({ uri, name, title, description, files }) => ({
        uriTemplate: uri,
        name,
        title,
        description,
        mimeType: files?.mimeType ?? 'application/json',
      }));
  }

  /** A resource as JSON, with a note when it may contain site texts, or as files. Rejects with UnknownResource or ServiceError. */
  async read(uri: string, caller: Caller): Promise<ResourceContent[]> {
    const { kind, parts, page } = this.#find(uri, caller.actor);
    const contentOf = (output: JsonObject) => ({
      uri,
      mimeType: 'application/json' as const,
      text: JSON.stringify(output),
    });
    if (kind.operation === undefined)
      return [contentOf(renamedIn(describeError(parts[0] ?? '', uri), this.#registry.nameTools))];
    try {
      if (kind.files !== undefined) {
        const output = await this.#registry.readFiles(kind.files.of, kind.operation, kind.input(parts, page), caller);
        return output.map((file) => ({ ...file, uri }));
      }
      const sizeChosen = page.per_page !== undefined;
      const output = await this.#registry.read(kind.operation, kind.input(parts, page), caller, sizeChosen);
      const json = contentOf({ ...output, ...nextPage(kind, output) });
      return hasSiteText(output) ? [json, { uri, mimeType: 'text/plain', text: SITE_TEXT_NOTE }] : [json];
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

/** The address of the next page: unlike a tool's output, a resource list has no `truncated` that says how to get the rest. */
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

/** Job id in the address of a resource that can be subscribed to; undefined for other addresses. */
export function jobOf(uri: string): string | undefined {
  const id = /^svc:\/\/jobs\/([^/?]{1,100})$/.exec(uri)?.[1];
  return id === undefined ? undefined : decoded(id);
}
