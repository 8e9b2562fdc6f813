import { clientHead } from '../../schemas/client.js';
import { clientRef, pageNumbers, paging } from '../../schemas/common.js';
import { siteOfOwner } from '../../schemas/site.js';
import { include, siteExtras } from '../../schemas/site-extras.js';
import { z } from '../../schemas/zod.js';
import { listClientSites } from '../../src/domain/clients/clients.js';
import { withExtras } from '../../src/domain/sites/extras.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-client-sites-v1',
  title: "List a client's sites",
  about: "Lists a client's sites with status, in URL order.",
  run: 'POST',
  effect: 'read',
  input: () => z.object({ client_id_or_email: clientRef(), ...paging(20, 100), include: include() }),
  output: () =>
    z.object({
      ...clientHead(),
      sites: z.array(siteOfOwner().extend(siteExtras())),
      ...pageNumbers(),
      total: z.number().int(),
    }),
  async handle({ client_id_or_email, page, per_page, include }, ctx) {
    const found = await listClientSites(ctx, client_id_or_email, page, per_page);
    return { ...found, sites: await withExtras(ctx, found.sites, include) };
  },
});
