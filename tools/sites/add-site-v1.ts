import { bool, id, list, token } from '../../schemas/common.js';
import { site, siteName } from '../../schemas/site.js';
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

  input: () =>
    z.object({
      url: z.string().max(2048).describe('Full address: https://example.com/'),
      admin: token(255).describe("Administrator's login."),
      admin_password: z.string().max(1024).optional().describe('Used once, never stored.'),
      unique_id: token(255).optional().describe('Unique security id.'),
      name: siteName().optional().describe('Default: its title.'),
      client_id: id().optional().describe('Owner.'),
      tags: list(id()).optional().describe('Tag ids.'),
      http_user: z.string().max(255).optional().describe('HTTP Basic login.'),
      http_pass: z.string().max(1024).optional().describe('Password.'),
      ssl_verify: bool().default(true).describe('Check TLS.'),
    }),

  output: site,

  handle: (input, ctx) => addSite(ctx, input),
});
