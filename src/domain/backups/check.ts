/** Checks the whole repository of backups: what is damaged or missing in it, and which backups that affects. */

import { isoTime } from '../../runtime/iso-time.js';
import type { Repository } from '../../store/backups/repository/types.js';
import type { Ctx } from '../context.js';
import { backupError, damageIn } from './plugin.js';
import { readFilesPage, readTables, type Snapshot } from './snapshot.js';

export interface Problem {
  /** A pack, or the backup whose own object it is. */
  what: string;
  problem: string;
  /** Backups that need what is damaged. Whole lists may be long: `backups_count` counts all. */
  backups: { backup_id: string; site_url: string; made_at: string | null }[];
  backups_count: number;
}

export interface RepositoryCheck {
  sound: boolean;
  packs: number;
  packs_read: number;
  bytes_read: number;
  backups: number;
  problems: Problem[];
  /** Chunks that cannot be read. */
  lost_chunks: number;
}

const NAMED = 20;
/** Chunks that are looked up together. */
const PORTION = 500;

/**
 * @param percent of the packs that are read; the sizes of all, and the lists of all backups, are always checked
 * @param repair removes damaged packs, but keeps what can be read of them: the next backup of a site that has the rest stores
 *   it again, also for the older backups
 * @throws ServiceError `svc_backup_storage` if the repository cannot be reached
 */
export async function checkBackups(ctx: Ctx, percent: number, repair: boolean): Promise<RepositoryCheck> {
  try {
    const repository = await ctx.backupStorage.open();
    const { damage, ...packs } = await repository.check({
      share: percent / 100,
      pick: Math.random,
      signal: ctx.signal,
    });
    const work = new Concerned(repository);
    for (const { pack, problem, chunks } of damage) work.damaged(`pack ${pack}`, problem, chunks);
    const rows = new Map((await ctx.store.siteBackups.allDone()).map((row) => [row.id, row]));
    const ids = new Set([...(await repository.snapshots()), ...rows.keys()]);
    for (const id of ids) {
      ctx.signal.throwIfAborted();
      await work.look(id, rows.get(id));
    }
    const problems = work.problems();
    const lost_chunks = work.lost;
    if (repair) await repository.repair(damage);
    const now = ctx.clock.now();
    for (const [id, count] of work.counts())
      if (rows.has(id)) await ctx.store.siteBackups.checked(id, `${count} problems`, now);
    return {
      sound: problems.length === 0,
      packs: packs.packs,
      packs_read: packs.read,
      bytes_read: packs.bytes,
      backups: ids.size,
      problems,
      lost_chunks,
    };
  } catch (error) {
    throw backupError(error, 0, 'svc_backup_storage');
  }
}

type Row = { site_url: string; started_at: number };

/** Finds the backups that need what is damaged. A list of files that many backups share is read once. */
class Concerned {
  readonly #repository: Repository;
  readonly #found: { what: string; problem: string; backups: Map<string, Row | undefined> }[] = [];
  /** By chunk: the place of its problem. */
  readonly #bad = new Map<string, number>();
  /** By the list that names them. */
  readonly #known = new Map<string, ReadonlySet<number>>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  damaged(what: string, problem: string, chunks: readonly string[]): number {
    const place = this.#found.push({ what, problem, backups: new Map() }) - 1;
    for (const chunk of chunks) this.#bad.set(chunk, place);
    return place;
  }

  async look(id: string, row: Row | undefined): Promise<void> {
    const snapshot = await this.#orProblem(
      `backup ${id}`,
      async () => (await this.#repository.snapshot(id)) as Snapshot,
    );
    const places = new Set<number>();
    if (typeof snapshot === 'number') places.add(snapshot);
    else {
      const { files, tables } = snapshot;
      for (const page of files)
        for (const place of await this.#list([page], async () =>
          (await readFilesPage(this.#repository, page)).flatMap(({ chunks }) => chunks),
        ))
          places.add(place);
      for (const place of await this.#list(tables, async () =>
        (await readTables(this.#repository, snapshot)).flatMap(({ slices }) =>
          slices.flatMap(({ chunk }) => chunk ?? []),
        ),
      ))
        places.add(place);
    }
    for (const place of places) this.#found[place]?.backups.set(id, row);
  }

  /** Problems of a list, which has chunks of its own, and of what it names. */
  async #list(own: readonly string[], read: () => Promise<string[]>): Promise<ReadonlySet<number>> {
    const key = own.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const places = await this.#problemsOf(own);
    if (places.size === 0) {
      const named = await this.#orProblem('a list', read);
      if (typeof named === 'number') places.add(named);
      else for (const place of await this.#problemsOf([...new Set(named)])) places.add(place);
    }
    this.#known.set(key, places);
    return places;
  }

  async #problemsOf(chunks: readonly string[]): Promise<Set<number>> {
    const places = new Set<number>();
    for (let at = 0; at < chunks.length; at += PORTION) {
      const portion = chunks.slice(at, at + PORTION);
      for (const chunk of portion) {
        const place = this.#bad.get(chunk);
        if (place !== undefined) places.add(place);
      }
      const absent = (await this.#repository.absent(portion)).filter((chunk) => !this.#bad.has(chunk));
      if (absent.length > 0) places.add(this.damaged(`${absent.length} chunks`, 'They are in no pack.', absent));
    }
    return places;
  }

  /** What is read, or the place of the problem. */
  async #orProblem<T>(what: string, work: () => Promise<T>): Promise<T | number> {
    try {
      return await work();
    } catch (error) {
      return this.damaged(what, damageIn(error), []);
    }
  }

  problems(): Problem[] {
    return this.#found.map(({ what, problem, backups }) => ({
      what,
      problem,
      backups: [...backups].slice(0, NAMED).map(([backup_id, row]) => ({
        backup_id,
        site_url: row?.site_url ?? '',
        made_at: isoTime(row?.started_at ?? null),
      })),
      backups_count: backups.size,
    }));
  }

  /** Chunks that cannot be read. */
  get lost(): number {
    return this.#bad.size;
  }

  /** How many problems concern each backup. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { backups } of this.#found) for (const id of backups.keys()) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }
}
