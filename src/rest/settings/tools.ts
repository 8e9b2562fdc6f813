/** Routes of the tools that work on all sites in the background, and of two without effect (REST §6.10.7, §6.10.8). */

import { z } from '../../../schemas/zod.js';
import { once } from '../../core/once.js';
import { startTool, toolStatus } from '../../domain/jobs/tool-jobs.js';
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
  'Works in the background, five sites at a time with 3 s between, and outlives a restart. While one is under way, a second start answers that one. Suspended sites are left alone.';

function message(what: string, running: boolean): string {
  return running ? `${what} is under way already.` : `${what} was started.`;
}

export const toolRoutes: readonly Route[] = [
  route({
    on: 'POST',
    path: '/settings/tools/destroy-sessions',
    needs: 'write',
    fails: [404],
    summary: 'Log the administrators out of every site',
    description: `${BACKGROUND} Sessions of other users stay: the child plugin acts for administrators only.`,
    params: () => z.object({}),
    returns: () => started().extend({ destroy_id: z.string() }),
    async answer(_params, ctx) {
      const job = await startTool(ctx, 'destroy');
      return { message: message('Ending the administrator sessions of all sites', job.already_running), ...job };
    },
  }),
  route({
    on: 'GET',
    path: '/settings/tools/destroy-sessions-status/{destroy_id}',
    needs: 'read',
    summary: 'How far ending the sessions has come',
    where: { destroy_id: ID },
    params: () => z.object({ destroy_id: z.string() }),
    returns: status,
    answer: ({ destroy_id }, ctx) => toolStatus(ctx, 'destroy', destroy_id),
  }),
  route({
    on: 'POST',
    path: '/settings/tools/renew-connections',
    needs: 'write',
    fails: [404],
    summary: 'Give every site a new connection key',
    description: `${BACKGROUND} The new key is registered over the old one, so that no site is left without. Disconnected sites are connected by it.`,
    params: () => z.object({}),
    returns: () => started().extend({ renew_id: z.string() }),
    async answer(_params, ctx) {
      const job = await startTool(ctx, 'renew');
      return { message: message('Renewing the connections of all sites', job.already_running), ...job };
    },
  }),
  route({
    on: 'GET',
    path: '/settings/tools/renew-connections-status/{renew_id}',
    needs: 'read',
    summary: 'How far renewing the connections has come',
    where: { renew_id: ID },
    params: () => z.object({ renew_id: z.string() }),
    returns: status,
    answer: ({ renew_id }, ctx) => toolStatus(ctx, 'renew', renew_id),
  }),
  route({
    on: 'POST',
    path: '/settings/tools/disconnect-all-sites',
    needs: 'write',
    fails: [404],
    summary: 'Disconnect every site',
    description: `${BACKGROUND} Each site is asked to forget this service; one that cannot be reached is marked as disconnected all the same, and listed in errors.`,
    params: () => z.object({}),
    returns: () => started().extend({ disconnect_id: z.string() }),
    async answer(_params, ctx) {
      const job = await startTool(ctx, 'disconnect');
      return { message: message('Disconnecting all sites', job.already_running), ...job };
    },
  }),
  route({
    on: 'GET',
    path: '/settings/tools/disconnect-all-sites-status/{disconnect_id}',
    needs: 'read',
    summary: 'How far disconnecting has come',
    where: { disconnect_id: ID },
    params: () => z.object({ disconnect_id: z.string() }),
    returns: status,
    answer: ({ disconnect_id }, ctx) => toolStatus(ctx, 'disconnect', disconnect_id),
  }),
  route({
    on: 'POST',
    path: '/settings/tools/clear-activation-data',
    needs: 'write',
    summary: 'Drop licence activations of extensions',
    description:
      'Every part of this service is free: there are no activations, so this always succeeds and changes nothing.',
    params: () => z.object({}),
    returns: () => z.object({ message: z.string() }),
    answer: async () => ({ message: 'There are no licence activations: nothing had to be dropped.' }),
  }),
  route({
    on: 'POST',
    path: '/settings/tools/restore-info-messages',
    needs: 'write',
    summary: 'Bring dismissed notices back',
    description: 'This service shows no notices that could be dismissed, so this always succeeds and changes nothing.',
    params: () => z.object({}),
    returns: () => z.object({ message: z.string() }),
    answer: async () => ({ message: 'No notices are dismissed: nothing had to be brought back.' }),
  }),
];
