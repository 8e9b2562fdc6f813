import { clientHead } from '../../schemas/client.js';
import { clientRef, confirmation } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { deleteClient, previewDeleteClient } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-client-v1',
  title: 'Delete a client',
  about: 'Deletes a client; its sites stay.',
  effect: 'destroy',
  idempotent: false,
  input: () => z.object({ client_id_or_email: clientRef(), ...confirmation() }),
  output: () =>
    z.object({
      deleted: z.boolean(),
      ...clientHead(),
      dry_run: z.boolean().optional().describe('True on a preview.'),
      sites_affected: z.number().int().optional().describe('Sites that lose the client.'),
      sites_unsuspended: z.number().int().optional().describe('Sites no longer suspended: only the client was.'),
      sites_to_unsuspend: z
        .number()
        .int()
        .optional()
        .describe('On a preview: sites that would no longer be suspended.'),
      warnings: z.array(z.string()).optional().describe('On a preview: what to know before confirming.'),
    }),
  preview: ({ client_id_or_email }, ctx) => previewDeleteClient(ctx, client_id_or_email),
  handle: ({ client_id_or_email }, ctx) => deleteClient(ctx, client_id_or_email),
});
