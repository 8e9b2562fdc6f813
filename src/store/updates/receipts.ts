/** Receipts of runs of updates, one for each site, and pictures of its pages. They go with their run. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { type Listed, readPage } from '../driver/lists.js';

interface ReceiptRow extends Row {
  site_id: number;
  /** The JSON that is signed. */
  document: string;
  /** Ed25519 of the document in UTF-8, in base64. */
  signature: string;
  /** SPKI in base64. */
  public_key: string;
}

export interface PictureRow extends Row {
  page: string;
  device: string;
  taken: 'before' | 'after';
  /** Of the file. */
  sha256: string;
  /** WebP in base64. */
  file: string;
}

/** Pictures of all runs: some tens of kilobytes each. */
const MOST_PICTURES = 5_000;

export function createReceipts(db: Db) {
  return {
    /** Replaces the receipt of a site, whose run has gone on. */
    async save(runId: string, { site_id, document, signature, public_key }: ReceiptRow): Promise<void> {
      await db.run(
        `INSERT INTO run_receipt (run_id, site_id, document, signature, public_key)
         SELECT id, ?2, ?3, ?4, ?5 FROM update_run WHERE id = ?1
         ON CONFLICT (run_id, site_id) DO UPDATE SET document = excluded.document, signature = excluded.signature,
           public_key = excluded.public_key`,
        [runId, site_id, document, signature, public_key],
      );
    },

    /** In the order of the sites. */
    ofRun(runId: string, page: number, perPage: number): Promise<Listed<ReceiptRow>> {
      const rows = sql('SELECT * FROM run_receipt WHERE run_id = ? ORDER BY site_id', runId);
      return readPage(db, rows, sql('SELECT count(*) AS n FROM run_receipt WHERE run_id = ?', runId), page, perPage);
    },

    /** Adds pictures; of all runs together only the newest are kept. */
    async addPictures(runId: string, siteId: number, pictures: readonly PictureRow[]): Promise<void> {
      const added = pictures.map(({ page, device, taken, sha256, file }) =>
        sql(
          `INSERT INTO run_picture (run_id, site_id, page, device, taken, sha256, file)
           SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM update_run WHERE id = ?1`,
          runId,
          siteId,
          page,
          device,
          taken,
          sha256,
          file,
        ),
      );
      const old = sql('DELETE FROM run_picture WHERE id <= (SELECT max(id) FROM run_picture) - ?', MOST_PICTURES);
      if (added.length > 0) await db.batch([...added, old]);
    },

    /** Without the files. */
    digests(runId: string, siteId: number): Promise<Omit<PictureRow, 'file'>[]> {
      return db.all<PictureRow>(
        'SELECT page, device, taken, sha256 FROM run_picture WHERE run_id = ? AND site_id = ? ORDER BY id',
        [runId, siteId],
      );
    },

    pictures(runId: string, siteId: number, limit: number): Promise<PictureRow[]> {
      return db.all<PictureRow>(
        'SELECT page, device, taken, sha256, file FROM run_picture WHERE run_id = ? AND site_id = ? ORDER BY id LIMIT ?',
        [runId, siteId, limit],
      );
    },
  };
}
