/** What a run of updates leaves as files: signed receipts, and pictures of pages before and after. Read as resources. */

import { id } from '../../../schemas/common.js';
import { z } from '../../../schemas/zod.js';
import { picturesOf, receiptsOf } from '../../domain/updates/runs/receipts.js';
import { defineOperation } from '../../operation/operation.js';

/** As many as a file for `sitefleet receipt verify` has. */
const RECEIPTS = 100;

export interface FileContent {
  [member: string]: unknown;
  mimeType: string;
  /** In base64. */
  blob: string;
  /** What it shows. */
  _meta?: Record<string, string>;
}

const runId = () => z.string().max(100);
const files = () => z.object({ files: z.array(z.custom<FileContent>()) });

/** One file, as `sitefleet receipt verify` takes it: no text in it may be changed, so it is not one of the texts for a model. */
export const READ_RECEIPTS = defineOperation({
  id: 'svc/get-run-receipts-v1',
  title: 'Read the receipts of a run',
  about: 'Reads the signed receipts of a run of updates, one for each site.',
  run: 'GET',
  effect: 'read',
  input: () => z.object({ run_id: runId(), page: z.coerce.number().int().min(1) }),
  output: files,
  async handle({ run_id, page }, ctx) {
    const { receipts: data, total } = await receiptsOf(ctx, run_id, page, RECEIPTS);
    const content = JSON.stringify({ total, page, per_page: RECEIPTS, data });
    return { files: [{ mimeType: 'application/json', blob: Buffer.from(content).toString('base64') }] };
  },
});

export const READ_PICTURES = defineOperation({
  id: 'svc/get-run-pictures-v1',
  title: 'Read the pictures of a site in a run',
  about: 'Reads how pages of a site looked before and after its updates.',
  run: 'GET',
  effect: 'read',
  input: () => z.object({ run_id: runId(), site: id() }),
  output: files,
  async handle({ run_id, site }, ctx) {
    const pictures = await picturesOf(ctx, run_id, site);
    return {
      files: pictures.map(({ file: blob, page, device, taken, sha256 }) => ({
        mimeType: 'image/webp',
        blob,
        _meta: { page, device, taken, sha256 },
      })),
    };
  },
});
