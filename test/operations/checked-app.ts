/** Operations on simulated sites over real storage; every answer is validated against its published contract. */

import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { expect } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import type { PluginState, ThemeState } from '../../src/demo/state.js';
import { contractOf, type JsonSchema } from '../../src/operation/contract.js';
import { STATUS } from '../../src/runtime/errors.js';
import { type Statement, StorageError } from '../../src/store/driver/db.js';
import { operations } from '../../tools/index.js';
import { type TestApp, type TestOptions, testApp } from '../support/harness.js';

const ajv = new AjvJsonSchemaValidator();
const validators = new Map<string, JsonSchemaValidator<unknown>>();

/** Compiled on the operation's first call, because compiling takes longer than most calls. */
function validatorOf(name: string): JsonSchemaValidator<unknown> {
  const operation = operations.find(({ id }) => id === `svc/${name}-v1`);
  if (operation === undefined) throw new Error(`no contract of ${name}`);
  const schema = contractOf(operation).output_schema as JsonSchema & { type: 'object' };
  const validator = validators.get(name) ?? ajv.getValidator(schema);
  validators.set(name, validator);
  return validator;
}

export interface CheckedApp extends TestApp {
  site(i: number): DemoSite;
  /** Connects the first `count` sites; their ids are 1, 2, 3 … in that order. */
  connectAll(count: number): Promise<number[]>;
  /** A row as another version of the service may have left it; no server answers at its address. */
  row(url: string, more?: { url_key?: string; name?: string }): Promise<number>;
  /** Two sites with the same identifying form. */
  twins(): Promise<[number, number]>;
  cell(sql: string, ...args: (string | number | null)[]): Promise<unknown>;
  /** Everything that a refused call must leave unchanged, as one text. */
  content(): Promise<string>;
  /** Makes the storage fail on matching statements while `work` runs. */
  failing<T>(statement: RegExp, work: () => Promise<T>): Promise<T>;
}

export async function checkedApp(options: TestOptions = {}): Promise<CheckedApp> {
  const app = await testApp({ jobs: false, ...options });
  const call = app.call;
  // `fail` of the harness goes through `call` of the same object.
  app.call = async (name, input, more) => {
    const answer = await call(name, input, more);
    // As sent over the wire: JSON has no undefined.
    const checked = validatorOf(name)(JSON.parse(JSON.stringify(answer)));
    if (!checked.valid) throw new Error(`${name} broke its contract: ${checked.errorMessage}`);
    return answer;
  };
  const fail = app.fail;
  app.fail = async (name, input, more) => {
    const error = await fail(name, input, more);
    expect(error.status).toBe(STATUS[error.code]);
    expect(error.message).toMatch(/\.$/);
    return error;
  };
  const row: CheckedApp['row'] = async (
    url,
    { url_key = url.replace(/^https?:\/\/(www\.)?/, ''), name = url } = {},
  ) => {
    const { lastId } = await app.db.run(
      'INSERT INTO site (url, url_key, name, search, created_at) VALUES (?, ?, ?, ?, ?)',
      [url, url_key, name, `${name}\u001f${url}`.toLowerCase(), app.clock.now()],
    );
    await app.db.run('INSERT INTO site_detail (site_id, child_version) VALUES (?, ?)', [lastId, '6.1']);
    return lastId;
  };
  return Object.assign(app, {
    row,
    site: (i: number) => app.fleet.site(i),
    connectAll: async (count: number) => {
      const ids: number[] = [];
      for (let i = 0; i < count; i++) ids.push(await app.connect(i));
      return ids;
    },
    twins: async (): Promise<[number, number]> => [
      await row('http://twin.example/'),
      await row('https://www.twin.example/', { url_key: 'twin.example/' }),
    ],
    cell: async (sql: string, ...args: (string | number | null)[]) =>
      Object.values((await app.db.one(sql, args)) ?? { nothing: undefined })[0],
    content: async () => {
      const tables = ['site', 'site_detail', 'site_tag', 'site_update', 'ignored_update', 'client', 'tag', 'job'];
      const rows = await Promise.all(tables.map((table) => app.db.all(`SELECT * FROM ${table} ORDER BY 1, 2`)));
      return JSON.stringify(rows);
    },
    failing: async <T>(statement: RegExp, work: () => Promise<T>): Promise<T> => {
      const { all, run, batch, read, one } = app.db;
      const guard = async <R>(texts: readonly string[], go: () => Promise<R>): Promise<R> => {
        if (texts.some((text) => statement.test(text))) throw new StorageError('other', 'the disk is full');
        return go();
      };
      const texts = (statements: readonly Statement[]) => statements.map(({ sql }) => sql);
      Object.assign(app.db, {
        all: (...args: Parameters<typeof all>) => guard([args[0]], () => all(...args)),
        one: (...args: Parameters<typeof one>) => guard([args[0]], () => one(...args)),
        run: (...args: Parameters<typeof run>) => guard([args[0]], () => run(...args)),
        batch: (statements: readonly Statement[]) => guard(texts(statements), () => batch(statements)),
        read: (statements: readonly Statement[]) => guard(texts(statements), () => read(statements)),
      });
      try {
        return await work();
      } finally {
        Object.assign(app.db, { all, one, run, batch, read });
      }
    },
  });
}

const MAYBE = { requiresPhp: '', requiresWp: '' };

/** Plugins of a site that may have updates: public, not the child itself. */
export function ordinary(site: DemoSite): PluginState[] {
  return site.state.plugins.filter(
    (plugin) => !plugin.slug.startsWith('mainwp-child/') && !plugin.mustUse && !plugin.premium,
  );
}

/** Slugs of the ordinary plugins of the first site that all others have as well. */
export function pluginsOfAll({ fleet }: Pick<CheckedApp, 'fleet'>): string[] {
  const [, ...others] = fleet.sites;
  return ordinary(fleet.site(0))
    .map(({ slug }) => slug)
    .filter((slug) => others.every(({ state }) => state.plugins.some((plugin) => plugin.slug === slug)));
}

/**
 * Leaves exactly these offers on a site: `count` plugins, one theme, core and a translation as requested. Returns the
 * items.
 */
export function offers(
  site: DemoSite,
  wanted: { plugins?: number; themes?: number; core?: boolean; translations?: boolean },
): { plugins: PluginState[]; themes: ThemeState[] } {
  const { state } = site;
  for (const item of [...state.plugins, ...state.themes]) item.update = null;
  const plugins = ordinary(site).slice(0, wanted.plugins ?? 0);
  const themes = state.themes.slice(0, wanted.themes ?? 0);
  for (const item of [...plugins, ...themes]) {
    item.version = '1.0';
    item.update = { version: '2.0', ...MAYBE };
  }
  state.wpVersion = '7.0';
  state.wpUpdate = wanted.core === true ? '7.1' : null;
  state.translations =
    wanted.translations === true
      ? [{ type: 'plugin', slug: 'akismet', language: 'de_DE', version: '5.0', name: 'Akismet' }]
      : [];
  return { plugins, themes };
}

/** Three connected sites, each with updates of two plugins, a theme, the core and a translation. */
export async function appWithUpdates(): Promise<CheckedApp> {
  const app = await checkedApp({ sites: 3 });
  await app.connectAll(3);
  for (const site of app.fleet.sites) offers(site, { plugins: 2, themes: 1, core: true, translations: true });
  await app.call('sync-sites');
  return app;
}

/** Slugs of the plugins that a site has updates of. */
export function offeredPlugins(site: DemoSite): string[] {
  return site.state.plugins.filter(({ update }) => update !== null).map(({ slug }) => slug);
}

export interface UpdateItem {
  site_id: number;
  type: string;
  slug: string;
}

/** What each item or error of an answer is about, as one text. */
export function itemsOf(entries: readonly UpdateItem[]): string[] {
  return entries.map(({ site_id, type, slug }) => `${site_id} ${type} ${slug}`);
}

/** Codes of the per-item errors of an answer. */
export function codesOf(answer: { errors?: readonly { code: string }[] }): string[] {
  return (answer.errors ?? []).map(({ code }) => code);
}
