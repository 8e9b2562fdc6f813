/**
 * MCP Apps (`io.modelcontextprotocol/ui`): self-contained pages ("views") that a client shows next to the results of
 * some tools. They are offered only to clients that declare the extension; the tool results themselves do not change.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

const EXTENSION = 'io.modelcontextprotocol/ui';
const APP_TYPE = 'text/html;profile=mcp-app';
/** The entry in `extensions` by which a client declares that it shows views. */
export const APPS_DECLARED = { [EXTENSION]: { mimeTypes: [APP_TYPE] } };

interface App {
  uri: string;
  /** File name in the folder of the built views. */
  file: string;
  title: string;
  description: string;
  /** The operations whose results it shows. */
  operations: readonly string[];
}

const APPS: readonly App[] = [
  {
    uri: 'ui://sitefleet/brief',
    file: 'brief.html',
    title: 'The fleet now',
    description: 'Shows the brief: what needs attention, with all cases of each matter on demand.',
    operations: ['svc/get-fleet-brief-v1'],
  },
  {
    uri: 'ui://sitefleet/job',
    file: 'job.html',
    title: 'A job',
    description: "Shows a job's progress until it ends.",
    operations: ['svc/get-batch-job-status-v1'],
  },
  {
    uri: 'ui://sitefleet/update',
    file: 'update.html',
    title: 'Updates',
    description: 'Shows the plan of updates, and what their run does on each site and item.',
    operations: ['svc/safe-update-site-v1', 'svc/run-updates-v1', 'svc/get-run-v1'],
  },
  {
    uri: 'ui://sitefleet/rollout',
    file: 'rollout.html',
    title: 'A rollout',
    description: 'Shows the plan of a rollout, starts it, and shows its waves with their sites until it ends.',
    operations: ['svc/plan-updates-v1', 'svc/start-rollout-v1', 'svc/get-rollout-v1', 'svc/control-rollout-v1'],
  },
];

/** Views make no network requests: all their data comes through the client. */
const UI = { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true };

/** One view as a client reads it. */
export interface AppContent {
  [member: string]: unknown;
  uri: string;
  mimeType: typeof APP_TYPE;
  text: string;
  _meta: { ui: typeof UI };
}

/** Whether a client shows views. @param capabilities as the client declared them */
export function showsApps(capabilities: { extensions?: unknown } | undefined): boolean {
  const declared = (capabilities?.extensions as Record<string, unknown> | undefined)?.[EXTENSION];
  const types = (declared as { mimeTypes?: unknown } | undefined)?.mimeTypes;
  return Array.isArray(types) && types.includes(APP_TYPE);
}

export class Apps {
  readonly #folder: string;
  #known: readonly App[] | undefined;
  readonly #tools = new WeakMap<Tool[], Tool[]>();

  /** @param folder of the built views; missing ones are not offered */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The tools, with the URI of their view in `_meta` where they have one. */
  attach(tools: Tool[]): Tool[] {
    const known = this.#tools.get(tools);
    if (known !== undefined) return known;
    const views = new Map(
      this.#built().flatMap(({ operations, uri }) => operations.map((operation) => [operation, uri] as const)),
    );
    const attached = tools.map((tool) => {
      const resourceUri = views.get(String(tool._meta?.id));
      return resourceUri === undefined ? tool : { ...tool, _meta: { ...tool._meta, ui: { resourceUri } } };
    });
    this.#tools.set(tools, attached);
    return attached;
  }

  /** The views of the tools that the caller is offered. */
  list(offers: (operation: string) => boolean) {
    return this.#built()
      .filter(({ operations }) => operations.some(offers))
      .map(({ uri, title, description }) => ({
        uri,
        name: uri.slice(uri.lastIndexOf('/') + 1),
        title,
        description,
        mimeType: APP_TYPE,
        _meta: { ui: UI },
      }));
  }

  /** One view; undefined for other addresses. Views hold no data, so every caller may read them. */
  read(uri: string): AppContent[] | undefined {
    const app = this.#built().find((one) => one.uri === uri);
    if (app === undefined) return undefined;
    const text = readFileSync(`${this.#folder}${app.file}`, 'utf8');
    return [{ uri, mimeType: APP_TYPE, text, _meta: { ui: UI } }];
  }

  #built(): readonly App[] {
    this.#known ??= APPS.filter(({ file }) => existsSync(`${this.#folder}${file}`));
    return this.#known;
  }
}
