/**
 * Runs a copy in WordPress Playground: PHP compiled to WebAssembly, and SQLite behind a translator of MySQL's statements. Weaker
 * than a PHP and a MariaDB, so it is used where these are missing. What it cannot do says nothing about a backup.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { siteWord, siteWords } from '../../../schemas/site-text.js';
import { findInPackage } from '../../runtime/global-packages.js';
import { readShipped } from '../../runtime/shipped-file.js';
import { configText } from './config-text.js';
import type { Programs } from './confined.js';
import { type CopyAnswer, type CopyRequest, type CopySettings, CopyUnavailable } from './copies.js';
import { own } from './folder.js';
import { errorsIn, MOST_BODY } from './php.js';
import { serverVariables } from './request.js';
import type { CopyRuntime } from './runtime.js';

export const PLAYGROUND = '@wp-playground/cli';
const TRANSLATOR = 'sqlite-database-integration.zip';
/** A load is ended by the time of the drill. */
const LOAD_MS = 3_600_000;
const START_MS = 120_000;
/** Its PHP is compiled for each page, and several times as slow as a real one. */
const PAGE_MS = 180_000;
const MOST_ANSWER = 16 * 1024 * 1024;
const LIMITS = { file_bytes: 4 * 1024 ** 3, memory_bytes: 0 };

/** WordPress loads it in place of its own database code. Before 6.4 its `prepare` cannot be called as the translator does. */
const DROP_IN = `<?php
foreach ( array( 'DB_ENGINE' => 'sqlite', 'FQDBDIR' => '/db/', 'FQDB' => '/db/copy.sqlite' ) as $name => $value ) defined( $name ) || define( $name, $value );
require '/sqlite/constants.php';
require '/sqlite/wp-includes/database/load.php';
require '/sqlite/wp-includes/sqlite/class-wp-sqlite-db.php';
class Sitefleet_Copy_Database extends WP_SQLite_DB {
	public function prepare( $query, ...$args ) {
		return wpdb::prepare( $query, ...$args );
	}
}
$GLOBALS['wpdb'] = new Sitefleet_Copy_Database( DB_NAME );
`;

/** Folder of the installed package; null = there is none. @param configured the folder; null = the usual places */
export async function findPlayground(configured: string | null): Promise<string | null> {
  const found = await findInPackage(PLAYGROUND, TRANSLATOR, configured);
  return found === null ? null : dirname(found);
}

interface Looked {
  php: string;
  database: string;
  extensions: string[];
}

export class Playground implements CopyRuntime {
  readonly means = 'playground';
  readonly #programs: Programs;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #looked: Looked = { php: '', database: '', extensions: [] };
  /** Version of PHP, such as 8.3; '' = the usual one. */
  #wanted = '';

  /** @param folder of the package */
  constructor(programs: Programs, folder: string, signal: AbortSignal) {
    this.#programs = programs;
    this.#folder = folder;
    this.#signal = signal;
  }

  /** Makes it ready. @throws CopyUnavailable if it does not run here */
  async look(): Promise<void> {
    const sqlite = join(this.#programs.folder, 'run', 'sqlite');
    await mkdir(sqlite, { recursive: true, mode: 0o700 });
    await own(sqlite);
    await this.#write(this.#program, await readShipped('playground.mjs'));
    await this.#write(join(sqlite, 'sitefleet.php'), await readShipped('playground.php'));
    this.#looked = await this.#run<Looked>('look', '', START_MS);
  }

  get #program(): string {
    return join(this.#programs.folder, 'run', 'playground.mjs');
  }

  async #write(path: string, text: string): Promise<void> {
    await writeFile(path, text, { mode: 0o600 });
    await own(path);
  }

  get php(): string {
    return this.#looked.php;
  }

  get database(): string {
    return this.#looked.database;
  }

  has(extension: string): boolean {
    return this.#looked.extensions.includes(extension);
  }

  /** @throws CopyUnavailable, with texts of the site in its message, for whatever SQLite or its translator refuse */
  async load(sql: AsyncIterable<Uint8Array>): Promise<void> {
    const refused = await this.#run<[string, string] | null>('load', sql, LOAD_MS);
    if (refused === null) return;
    const [statement, why] = refused;
    const table = /`((?:[^`]|``)+)`/.exec(statement)?.[1] ?? '';
    throw new CopyUnavailable(
      `SQLite, the database of WordPress Playground, refused table ${siteWord(table)}: ${siteWords(why, 300)}.`,
    );
  }

  query(sql: string): Promise<(string | null)[][]> {
    return this.#run('query', sql, LOAD_MS);
  }

  async files(settings: CopySettings): Promise<Record<string, string>> {
    this.#wanted = /^\d+\.\d+/.exec(settings.php)?.[0] ?? '';
    this.#looked = await this.#run<Looked>('look', '', START_MS);
    const database = { socket: '', name: 'copy', password: '' };
    return { 'wp-config.php': configText(settings, database), 'wp-content/db.php': DROP_IN };
  }

  async ask(request: CopyRequest): Promise<CopyAnswer> {
    const { host, path, cookie } = request;
    const asked = { url: path, headers: { host, cookie }, server: serverVariables(request, '/site') };
    const answer = await this.#run<Omit<CopyAnswer, 'errors'>>('ask', JSON.stringify(asked), PAGE_MS, MOST_BODY);
    const log = join(this.#programs.folder, 'tmp', 'php.log');
    return { ...answer, content_type: answer.content_type.toLowerCase(), errors: await errorsIn(log, '/site/') };
  }

  async #run<T>(
    task: string,
    input: string | AsyncIterable<Uint8Array>,
    limitMs: number,
    most = MOST_ANSWER,
  ): Promise<T> {
    const { code, out, err } = await this.#programs.run(
      [process.execPath, this.#program, this.#folder, this.#programs.folder, this.#wanted, task],
      { input: typeof input === 'string' ? once(input) : input, limits: LIMITS, limitMs, most, signal: this.#signal },
    );
    if (code === 0) return JSON.parse(out.toString('utf8')) as T;
    // Without paths of this machine.
    const said = /^(?:\w*Error|PHP Fatal error): (.{1,200})/m.exec(err)?.[1]?.replace(/(?:\/[^\s/'":]+)+\//g, '');
    throw new CopyUnavailable(
      `WordPress Playground failed here${said === undefined ? '' : `: ${siteWords(said, 200)}`}.`,
    );
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
