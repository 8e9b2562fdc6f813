/** `sitefleet brief`: what needs attention now, and what was done. */

import type { Brief } from '../../schemas/brief.js';
import type { Config } from '../runtime/config/types.js';
import { localCaller } from './local-actor.js';
import { withService } from './local-service.js';
import { type JsonFlag, print, printJson } from './output.js';
import { stopSignal } from './stop.js';

export async function showBrief(config: Config, options: JsonFlag & { since?: string }): Promise<void> {
  const signal = stopSignal();
  await withService(config, true, async (service) => {
    const operation = service.operations.find(({ id }) => id === 'svc/get-fleet-brief-v1');
    if (operation === undefined) throw new Error('There is no operation svc/get-fleet-brief-v1.');
    const input = options.since === undefined ? {} : { since: options.since };
    const brief = (await service.invoke(operation, input, localCaller(signal))) as unknown as Brief;
    if (options.json === true) printJson(brief);
    else print(briefText(brief));
  });
}

/** The brief for a terminal. It contains texts of sites, so terminal escapes are removed. */
function briefText({
  as_of,
  since,
  sites,
  needs_attention,
  updates_on_offer,
  done,
  not_known,
  log_head,
}: Brief): string {
  const { core, plugins, themes, translations } = updates_on_offer;
  const lines = [
    `${as_of}  ${sites.total} sites: ${sites.connected} connected, ${sites.disconnected} disconnected, ${sites.suspended} suspended`,
    '',
    ...(needs_attention.length === 0 ? ['Nothing is known to need attention.'] : []),
    ...needs_attention.flatMap(({ matter, count, first }) => [
      `${count} ${matter}`,
      ...first.map((text) => `    ${text}`),
      ...(count > first.length ? [`    and ${count - first.length} more`] : []),
    ]),
    '',
    `Updates on offer: ${core} core, ${plugins} plugins, ${themes} themes, ${translations} translations`,
    `Done since ${since}: ${done.length === 0 ? 'nothing' : done.map(({ what, count, sites: on }) => `${what} ${count} times${on === 0 ? '' : ` on ${on} sites`}`).join(', ')}`,
    ...(not_known.length === 0 ? [] : [`Unknown: ${not_known.join(', ')}`]),
    ...(log_head === undefined ? [] : [`The log of actions ends with ${log_head}`]),
  ];
  return lines.map((line) => line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')).join('\n');
}
