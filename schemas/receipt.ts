/** Schemas of receipts of runs, and of the pictures that they name. */

import { once } from '../src/runtime/once.js';
import { z } from './zod.js';

/** The first member of what is signed. */
export const RECEIPT_FORMAT = 'sitefleet-receipt/1';

export const receipt = once(() =>
  z.object({
    site_id: z.number().int(),
    document: z.string().describe('JSON, exactly as it is signed.'),
    signature: z.string().describe('Ed25519, base64.'),
    public_key: z.string().describe('SPKI, base64.'),
    key_id: z.string().describe('Beginning of the SHA-256 of the key.'),
  }),
);

export const runPicture = once(() =>
  z.object({
    page: z.string(),
    device: z.enum(['desktop', 'phone']),
    taken: z.enum(['before', 'after']),
    sha256: z.string(),
    file: z.string().describe('WebP, base64.'),
  }),
);
