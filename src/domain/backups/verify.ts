/** Verifies a backup: reads it back from the repository, and compares it with the digests of what the site sent. */

import { createHash } from 'node:crypto';
import type { verifyResult } from '../../../schemas/backup.js';
import type { z } from '../../../schemas/zod.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { completeBackup, SOUND } from './backups.js';
import { backupError, damageIn, pathWord } from './plugin.js';
import { type BackedUpSlice, leftOutOf, readFilesPage, readTables } from './snapshot.js';

/** Problems of an answer. */
const NAMED = 50;

type Result = z.input<ReturnType<typeof verifyResult>>;

/** @param percent of the files that are read; tables are always read, as are the lists of files */
export async function verifyBackup(ctx: Ctx, id: string, percent: number): Promise<Result> {
  const { row, snapshot, repository } = await completeBackup(ctx, id);
  const problems: Result['problems'] = [];
  const counts = { files_read: 0, files: 0, tables_read: 0, rows_left_out: 0, bytes_read: 0 };
  /** Reads chunks of something that has this digest; a problem is noted. */
  const compare = async (what: string, chunks: readonly string[], sha256: string) => {
    ctx.signal.throwIfAborted();
    const digest = createHash('sha256');
    await noted(what, async () => {
      for (const chunk of chunks) {
        const bytes = await repository.read(chunk);
        counts.bytes_read += bytes.length;
        digest.update(bytes);
      }
      if (digest.digest('hex') !== sha256) problems.push({ what, problem: 'It is not what the site sent.' });
    });
  };
  const noted = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      problems.push({ what, problem: damageIn(error) });
      return undefined;
    }
  };
  try {
    for (const table of (await noted('the list of tables', () => readTables(repository, snapshot))) ?? []) {
      for (const slice of table.slices) await compareSlice(slice, pathWord(table.name));
      counts.tables_read += 1;
      counts.rows_left_out += leftOutOf(table).length;
    }
    for (const page of snapshot.files) {
      const files = (await noted('a list of files', () => readFilesPage(repository, page))) ?? [];
      for (const { path, sha256, chunks } of files) {
        counts.files += 1;
        if (Math.random() * 100 >= percent) continue;
        counts.files_read += 1;
        await compare(pathWord(path), chunks, sha256);
      }
    }
    async function compareSlice({ chunk, sha256 }: BackedUpSlice, table: string) {
      await compare(`table ${table}`, chunk === null ? [] : [chunk], sha256);
    }
  } catch (error) {
    throw backupError(error, row.site_id, 'svc_backup_storage');
  }
  const now = ctx.clock.now();
  const result = problems.length === 0 ? SOUND : `${problems.length} problems`;
  await ctx.store.siteBackups.checked(id, result, now);
  return {
    backup_id: id,
    site_id: row.site_id,
    site_url: row.site_url,
    sound: problems.length === 0,
    ...counts,
    problems: problems.slice(0, NAMED),
    problems_count: problems.length,
    checked_at: isoTime(now) ?? '',
  };
}
