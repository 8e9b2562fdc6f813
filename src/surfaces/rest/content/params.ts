/** Filters that posts and comments share (REST §3.2). */

import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';
import { csv, day, ids } from '../params.js';

const none = <T>(): T[] => [];

export const contentChoice = once(() => ({
  websites: csv(z.union([z.string().max(2048), z.number().int()]))
    .default(none)
    .describe('Ids or domains of sites, separated by commas.'),
  groups: csv(z.union([z.string().max(255), z.number().int().transform(String)]))
    .default(none)
    .describe('Names or ids of tags, separated by commas.'),
  clients: ids().default(none).describe('Ids of clients, separated by commas.'),
}));

export const dayRange = once(() => ({
  dtsstart: day().optional().describe("First day, YYYY-MM-DD in the dashboard's time zone; needs dtsstop."),
  dtsstop: day().optional().describe('Last day, inclusive.'),
}));
