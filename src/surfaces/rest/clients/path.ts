/** Clients in paths: loads the one that a path names, with the 404 codes of the REST interface (REST §3.3). */

import { z } from '../../../../schemas/zod.js';
import { findClient } from '../../../domain/clients/records.js';
import type { Ctx } from '../../../domain/context.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';

export const clientPath = once(() => ({
  id_or_email: z.string().min(1).max(255).describe('Id of a client, or its e-mail address.'),
}));

/** By id when all digits, else by e-mail. Throws `svc_rest_invalid_client_id` or `svc_rest_invalid_client_data`. */
export async function clientOf(ctx: Ctx, id_or_email: string): Promise<{ id: number; name: string }> {
  try {
    return await findClient(ctx, id_or_email);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'svc_client_not_found') throw error;
    const shown = JSON.stringify(id_or_email.slice(0, 100));
    const numeric = /^\d+$/.test(id_or_email.trim());
    throw new ServiceError(
      numeric ? 'svc_rest_invalid_client_id' : 'svc_rest_invalid_client_data',
      numeric ? `No client has the id ${shown}.` : `No client has the address ${shown}.`,
      { field: 'id_or_email', advice: 'Find the client with GET /v2/clients?search=….' },
    );
  }
}
