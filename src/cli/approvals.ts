/** `sitefleet approvals`: changes that wait for a person, decided in the shell of the machine. */

import { type Mode, PRESET_RULES, type Preset } from '../../schemas/approval.js';
import { visibleJson } from '../../schemas/text.js';
import { decideApproval, listDetailedApprovals } from '../domain/approvals/approvals.js';
import { approvalRules, setApprovalRules } from '../domain/approvals/rules.js';
import type { Config } from '../runtime/config/types.js';
import { withLocalService } from './local-service.js';
import { type JsonFlag, printJson, printTable, say } from './output.js';

const LISTED = 100;

export async function listRequests(config: Config, { all, json }: JsonFlag & { all?: boolean }): Promise<void> {
  const states = all === true ? [] : (['waiting'] as const);
  const { items } = await withLocalService(config, (ctx) => listDetailedApprovals(ctx, states, 1, LISTED));
  if (json === true) return printJson(items);
  printTable(
    ['Id', 'State', 'What', 'Sites', 'Asked by', 'Way in', 'Asked', 'Expires'],
    items.map((one) => [
      one.approval_id,
      one.state,
      one.title,
      one.sites ?? 'unknown',
      one.asked_by,
      one.via,
      one.asked_at,
      one.expires_at,
    ]),
  );
  for (const { approval_id, operation, input, plan } of items)
    say(`\n${approval_id}: ${operation}\n  input ${visibleJson(input)}\n  plan  ${visibleJson(plan)}`);
}

export async function decide(
  config: Config,
  id: string,
  state: 'approved' | 'refused',
  { note, json }: JsonFlag & { note: string },
): Promise<void> {
  const request = await withLocalService(config, (ctx) => decideApproval(ctx, id, state, note));
  if (json === true) printJson(request);
  else if (request.state === 'used') say(`Approved: ${request.title}. It has started.`);
  else if (state === 'approved') say(`Approved: ${request.title}. It happens once its call is repeated.`);
  else say(`Refused: ${request.title}.`);
}

export async function rules(
  config: Config,
  preset: Preset | undefined,
  { inAssistants, json }: JsonFlag & { inAssistants?: 'on' | 'off' },
): Promise<void> {
  const in_assistants = inAssistants === undefined ? undefined : inAssistants === 'on';
  const set = await withLocalService(config, (ctx) =>
    preset === undefined && in_assistants === undefined
      ? approvalRules(ctx)
      : setApprovalRules(ctx, { preset, in_assistants }),
  );
  if (json === true) return printJson(set);
  say(`Rules: ${set.preset ?? 'custom'}. Few sites: up to ${set.few_sites}.`);
  if (set.in_assistants)
    say('Requests may be answered in the assistant that asked. That a person answers there cannot be checked.');
  const modes = Object.keys(PRESET_RULES.open.updates) as (keyof typeof PRESET_RULES.open.updates)[];
  const rows = Object.entries(set.rules).map(([kind, rule]) => [kind, ...modes.map((name): Mode => rule[name])]);
  printTable(['Kind', ...modes], rows);
}
