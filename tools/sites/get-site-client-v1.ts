import { client } from '../../schemas/client.js';
import { siteRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { getSiteClient } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-client-v1',
  title: "Read a site's client",
  about: 'Reads the client of a site; null when it has none.',
  run: 'POST',
  effect: 'read',
  input: () => z.object({ site_id_or_domain: siteRef() }),
  output: () =>
    z.object({
      site_id: z.number().int(),
      client: client().pick({ id: true, name: true, email: true, status: true }).nullable(),
    }),
  handle: ({ site_id_or_domain }, ctx) => getSiteClient(ctx, site_id_or_domain),
});
