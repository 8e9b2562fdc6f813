/** Routes of the tools that work on all sites in the background, and of two without effect (REST §6.10.7, §6.10.8). */

import { z } from '../../../../schemas/zod.js';
import { startTool, toolStatus } from '../../../domain/connection/tool-jobs.js';
import { once } from '../../../runtime/once.js';
import type { ToolKind } from '../../../store/jobs/tool-jobs.js';
import { type Route, route } from '../route.js';

const ID = /^[A-Za-z0-9_.-]{1,100}$/;

const status = once(() =>
  z.object({
    status: z.enum(['pending', 'processing', 'completed', 'failed']),
    total: z.number().int(),
    processed: z.number().int(),
    failed: z.number().int(),
    progress: z.number().describe('Percent.'),
    errors: z.array(z.object({ site_id: z.number().int(), error: z.string() })).describe('The first ten.'),
    started_at: z.string().nullable(),
    completed_at: z.string().nullable(),
  }),
);

const started = once(() => z.object({ message: z.string(), status_url: z.string(), already_running: z.boolean() }));

const BACKGROUND =
  'Works in the background, five sites at a time with 3 s between, and survives a restart. While a run is in progress, starting again returns that run. Suspended sites are skipped.';

interface ToolFacts {
  summary: string;
  description: string;
  /** What is done, as the beginning of a sentence. */
  work: string;
  progress: string;
}

/** Starting a tool, and reading how far it is. */
function toolPair(tool: ToolKind, path: string, { summary, description, work, progress }: ToolFacts): Route[] {
  const id = `${tool}_id`;
  return [
    route({
      on: `POST /settings/tools/${path}`,
      change: { kind: tool === 'disconnect' ? 'disconnections' : 'connections', sites: 'all' },
      fails: [404],
      summary,
      description: `${BACKGROUND} ${description}`,
      params: () => z.object({}),
      returns: () => started().extend({ [id]: z.string() }),
      async answer(_params, ctx) {
        const job = await startTool(ctx, tool);
        return { message: `${work} ${job.already_running ? 'is already in progress' : 'was started'}.`, ...job };
      },
    }),
    route({
      on: `GET /settings/tools/${path}-status/{${id}}`,
      summary: progress,
      where: { [id]: ID },
      params: () => z.object({ [id]: z.string() }),
      returns: status,
      answer: (params, ctx) => toolStatus(ctx, tool, params[id] ?? ''),
    }),
  ];
}

export const toolRoutes: readonly Route[] = [
  ...toolPair('destroy', 'destroy-sessions', {
    summary: 'Log the administrators out of every site',
    description: 'Sessions of other users stay: the child plugin acts for administrators only.',
    work: 'Ending the administrator sessions of all sites',
    progress: 'Read the progress of ending the sessions',
  }),
  ...toolPair('renew', 'renew-connections', {
    summary: 'Give every site a new connection key',
    description:
      'The new key is registered over the old one, so that no site is left without a key. Disconnected sites are reconnected by it.',
    work: 'Renewing the connections of all sites',
    progress: 'Read the progress of renewing the connections',
  }),
  ...toolPair('disconnect', 'disconnect-all-sites', {
    summary: 'Disconnect every site',
    description:
      'Each site is asked to forget this service; unreachable ones are marked as disconnected anyway and listed in errors.',
    work: 'Disconnecting all sites',
    progress: 'Read the progress of disconnecting',
  }),
  route({
    on: 'POST /settings/tools/clear-activation-data',
    change: 'other',
    summary: 'Drop licence activations of extensions',
    description:
      'Every part of this service is free: there are no activations, so this always succeeds and changes nothing.',
    params: () => z.object({}),
    returns: () => z.object({ message: z.string() }),
    answer: async () => ({ message: 'There are no licence activations to drop.' }),
  }),
  route({
    on: 'POST /settings/tools/restore-info-messages',
    change: 'other',
    summary: 'Restore dismissed notices',
    description: 'This service shows no notices that could be dismissed, so this always succeeds and changes nothing.',
    params: () => z.object({}),
    returns: () => z.object({ message: z.string() }),
    answer: async () => ({ message: 'There are no dismissed notices to restore.' }),
  }),
];
