import { dryRun, queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { idList } from '../../schemas/search.js';
import { siteWord } from '../../schemas/site-text.js';
import { z } from '../../schemas/zod.js';
import { counted, namesOf, sentences } from '../../src/domain/common/question.js';
import { previewSwitch, switchPlugin } from '../../src/domain/extensions/switch.js';
import { siteAddress } from '../../src/domain/sites/urls.js';
import { defineOperation } from '../../src/operation/operation.js';

const sites = () => z.array(z.object({ id: z.number().int(), url: z.string() }));

export default defineOperation({
  id: 'svc/switch-plugin-v1',
  title: 'Switch a plugin on many sites',
  about:
    'Empty site list = ALL connected sites where its state differs. Activates or deactivates a plugin and verifies each.',
  instructions: 'Show the user a dry_run first. Over 200 sites: a job.',
  effect: 'write',
  change: 'installs',
  idempotent: true,
  multi: true,

  input: () =>
    z.object({
      plugin: z.string().trim().min(1).max(255).describe('Slug or full name.'),
      action: z.enum(['activate', 'deactivate']).describe('What to do.'),
      site_ids_or_domains: siteRefs('Empty = ALL.').default([]),
      tag_ids: idList().describe('With any of these tags.'),
      client_ids: idList().describe('Of any of these clients.'),
      dry_run: dryRun(),
    }),

  output: () =>
    z.object({
      ...queuedFields(),
      plugin: z.object({ slug: z.string(), name: z.string() }),
      switched: sites().optional(),
      total_switched: z.number().int().optional(),
      errors: z.array(siteError()),
      total_errors: z.number().int(),
      dry_run: z.literal(true).optional(),
      would_affect: z.object({ sites: z.number().int() }).optional(),
      would_switch: sites().optional().describe('The first 200.'),
      already: sites().optional().describe('In that state; the first 200.'),
      total_already: z.number().int().optional(),
    }),

  question: ({ plugin, would_switch: sites = [], would_affect, total_errors }, { action }) => ({
    text: sentences(
      `${action === 'activate' ? 'Activate' : 'Deactivate'} ${siteWord(plugin.name)} on ${namesOf(
        sites.map(({ url }) => siteAddress(url)),
        would_affect?.sites,
      )}?`,
      total_errors > 0 && `${counted(total_errors, 'named site')} cannot be changed.`,
    ),
  }),

  preview: (input, ctx) => previewSwitch(ctx, input),

  handle: (input, ctx) => switchPlugin(ctx, input),
});
