/** Completion of arguments of prompts and resource templates: stored sites, clients, tags and slugs, and error codes. */

import type { Caller } from '../../operation/operation.js';
import { ERROR_CODES } from '../../runtime/error-codes.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import type { CompletionSource, Prompts } from './prompts.js';
import type { ToolRegistry } from './registry.js';
import { type JsonObject, SITE_TEXT_NOTE } from './tool-result.js';

interface Completion {
  values: string[];
  total?: number;
  hasMore: boolean;
}

interface CompletionRequest {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };
  argument: { name: string; value: string };
  /** Values of the arguments that are filled in already. */
  context?: { arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The protocol's limit. */
const MAX_VALUES = 100;
/** No WordPress slug contains these; chat markup and links do. */
const UNEXPECTED = /[<>[\]|`:"\n]/;
const NONE: Completion = { values: [], hasMore: false };

export class Completions {
  readonly #registry: ToolRegistry;
  readonly #prompts: Prompts;

  constructor(registry: ToolRegistry, prompts: Prompts) {
    this.#registry = registry;
    this.#prompts = prompts;
  }

  /** Values that contain the typed text; none when the caller may not read them. */
  async complete(request: CompletionRequest, caller: Caller) {
    return { completion: { ...(await this.#find(request, caller)) }, _meta: { 'sitefleet/note': SITE_TEXT_NOTE } };
  }

  async #find({ ref, argument, context }: CompletionRequest, caller: Caller): Promise<Completion> {
    const chosen = context?.arguments ?? {};
    const typed = argument.value.slice(0, 255);
    if (ref.type === 'ref/prompt') {
      const subject = this.#prompts.completionSourceOf(ref.name, argument.name);
      return subject === undefined ? NONE : this.#valuesOf(subject, typed, chosen, caller);
    }
    if (ref.uri === 'svc://errors/{code}' && argument.name === 'code') return matching(ERROR_CODES, typed);
    if (argument.name !== 'id') return NONE;
    if (ref.uri.startsWith('svc://sites/')) return this.#valuesOf('site', typed, chosen, caller);
    if (ref.uri.startsWith('svc://clients/')) return this.#valuesOf('client', typed, chosen, caller);
    return NONE;
  }

  #valuesOf(
    subject: CompletionSource,
    typed: string,
    chosen: Readonly<Record<string, string>>,
    caller: Caller,
  ): Promise<Completion> {
    if (subject === 'site') return this.#search('svc/list-sites-v1', typed, caller, siteName);
    if (subject === 'client') return this.#search('svc/list-clients-v1', typed, caller, clientName);
    if (subject === 'tag') return this.#search('svc/list-tags-v1', typed, caller, (tag) => String(tag.name ?? ''));
    return this.#slugs(typed, chosen.site ?? '', caller);
  }

  async #search(id: string, search: string, caller: Caller, name: (item: JsonObject) => string): Promise<Completion> {
    if (!this.#registry.offers(id, caller.actor)) return NONE;
    const { items, total } = await this.#registry.read(id, { search, per_page: MAX_VALUES }, caller);
    const values = [...new Set((items as JsonObject[]).map(name))].filter((value) => value !== '');
    const count = typeof total === 'number' ? total : values.length;
    return { values, total: count, hasMore: count > values.length };
  }

  async #slugs(typed: string, site: string, caller: Caller): Promise<Completion> {
    const id = 'svc/get-site-plugins-v1';
    if (site === '' || !this.#registry.offers(id, caller.actor)) return NONE;
    try {
      const { plugins } = await this.#registry.read(id, { site_id_or_domain: site }, caller);
      return matching(
        (plugins as JsonObject[]).map((plugin) => String(plugin.slug ?? '')).filter((slug) => !UNEXPECTED.test(slug)),
        typed,
      );
    } catch {
      // The site is not fully typed yet, or the caller has no access to it.
      return NONE;
    }
  }
}

function matching(all: readonly string[], typed: string): Completion {
  const wanted = typed.toLowerCase();
  const found = all.filter((value) => value !== '' && value.toLowerCase().includes(wanted));
  return { values: found.slice(0, MAX_VALUES), total: found.length, hasMore: found.length > MAX_VALUES };
}

/** The domain of a site at its root, otherwise its id: a domain with a path is often ambiguous. */
function siteName(item: JsonObject): string {
  const url = String(item.url ?? '');
  const { host = '', pathname = '' } = URL.canParse(url) ? new URL(url) : {};
  return host !== '' && pathname === '/' ? withRealDomains(host) : String(item.id);
}

function clientName({ email, id }: JsonObject): string {
  return typeof email === 'string' && email !== '' ? email : String(id);
}
