import { clientHead } from '../../schemas/client.js';
import { clientRef, confirmation } from '../../schemas/common.js';
import { siteWord } from '../../schemas/site-text.js';
import { z } from '../../schemas/zod.js';
import { deleteClient, previewDeleteClient } from '../../src/domain/clients/clients.js';
import { sentences } from '../../src/domain/common/question.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-client-v1',
  title: 'Delete a client',
  about: 'Deletes a client; its sites stay, suspended ones suspended.',
  effect: 'destroy',
  change: 'deletions',
  idempotent: false,
  input: () => z.object({ client_id_or_email: clientRef(), ...confirmation() }),
  output: () =>
    z.object({
      deleted: z.boolean(),
      ...clientHead(),
      dry_run: z.boolean().optional().describe('True for a preview.'),
      sites_affected: z.number().int().optional().describe('Sites that lose the client.'),
      sites_suspended: z.number().int().optional().describe('Of these, sites that stay suspended.'),
      warnings: z.array(z.string()).optional().describe('Preview only: read before confirming.'),
    }),
  question: ({ client_name, warnings = [] }) => ({
    text: sentences(`Delete the client ${siteWord(client_name)}?`, ...warnings),
  }),
  preview: ({ client_id_or_email }, ctx) => previewDeleteClient(ctx, client_id_or_email),
  handle: ({ client_id_or_email }, ctx) => deleteClient(ctx, client_id_or_email),
});
