import { bool, id, list, plainText } from '../../schemas/common.js';
import { site } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { addSite } from '../../src/domain/connect.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/add-site-v1',
  title: 'Connect a new site',
  about:
    'Connects a WordPress site that runs the MainWP Child plugin and stores its first inventory. A default child needs the administrator password once.',
  instructions:
    'On svc_invalid_credentials ask for admin, admin_password or unique_id, as the field says. Not idempotent.',
  run: 'POST',
  effect: 'write',
  idempotent: false,

  input: z.object({
    url: z.string().max(2048).describe('Full address, such as https://example.com/.'),
    admin: z.string().max(255).describe('Login of an administrator of the site.'),
    admin_password: z.string().max(1024).optional().describe('Used once to connect, never stored.'),
    unique_id: z.string().max(255).optional().describe('Unique security id, if the child has one.'),
    name: plainText(255).optional().describe('Default: the host.'),
    client_id: id().optional(),
    tags: list(id()).optional().describe('Tag ids.'),
    http_user: z.string().max(255).optional().describe('HTTP Basic login in front of the site.'),
    http_pass: z.string().max(1024).optional(),
    ssl_verify: bool().default(true),
  }),

  output: site,

  handle: (input, ctx) => addSite(ctx, input),
});
