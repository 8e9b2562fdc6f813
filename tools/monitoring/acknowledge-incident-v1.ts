import { bool, id, plainText } from '../../schemas/common.js';
import { incidentEntry } from '../../schemas/monitoring-tools.js';
import { z } from '../../schemas/zod.js';
import { incidentEntryOf } from '../../src/domain/monitoring/entries.js';
import { acknowledgeIncident } from '../../src/domain/monitoring/incidents.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/acknowledge-incident-v1',
  title: 'Acknowledge an incident',
  about: 'Marks an incident as seen by a person, or removes the mark. Checks and alerts continue as before.',
  effect: 'write',
  change: 'other',
  idempotent: true,

  input: () =>
    z.object({
      incident_id: id().describe('From list-incidents-v1.'),
      acknowledged: bool().default(true).describe('false removes the mark.'),
      note: plainText(500).optional().describe('What is known about it.'),
    }),

  output: incidentEntry,

  handle: async ({ incident_id, ...mark }, ctx) => incidentEntryOf(await acknowledgeIncident(ctx, incident_id, mark)),
});
