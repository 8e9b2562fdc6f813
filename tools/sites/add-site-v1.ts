import { newSite, site } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { addSite } from '../../src/domain/connection/connection.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/add-site-v1',
  title: 'Connect a new site',
  about: 'Connects a WordPress site that runs MainWP Child.',
  effect: 'write',
  change: { kind: 'connections', sites: 1 },
  idempotent: false,

  input: () => z.object(newSite()),

  output: site,

  handle: (input, ctx) => addSite(ctx, input),
});
