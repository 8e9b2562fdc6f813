/** The summary that `sitefleet import` prints at its end. */

import { INVISIBLE } from '../../schemas/text.js';
import type { RowsReport } from '../domain/import/add-rows.js';
import { sentence } from '../domain/import/record.js';
import type { ImportReport } from '../domain/import/run.js';
import { withRealDomains } from '../runtime/real-domains.js';

/** Maximum lines shown per list; `--json` has all. */
const SHOWN = 50;

export const TRIAL_ADVICE = `While on trial, sites are only read here, and the other dashboard works as before; its syncs do no harm.
Do not use "renew connection", "reconnect" or "disconnect" there for these sites: that creates new keys and ends the access from here.
Once you have decided: sitefleet import finish. To give up the trial, remove the sites here; they are not notified.`;

const TAKEN_ADVICE = `Both dashboards now have the same keys. Let only one of them update: turn the other off, or stop its automatic updates.
Its syncs do no harm; "renew connection" or "disconnect" there would end the access from here.`;

/** The lists, the totals, and what to do next. */
export function importText(report: ImportReport | RowsReport): string {
  const fleet = 'source' in report ? report : undefined;
  const would = report.dry_run ? 'would be imported' : 'imported';
  const lines = [
    ...(fleet === undefined ? [] : [`From ${fleet.source.product} ${fleet.source.version} at ${fleet.source.url}`]),
    `${report.imported.length} sites ${would}, ${report.exists.length} exist, ${report.unreachable.length} unreachable, ${report.invalid.length} invalid${report.pending.length === 0 ? '' : `, ${report.pending.length} not reached yet`}`,
    ...(fleet === undefined ? [] : [linksText(fleet), ...ignoredText(fleet)]),
    ...(report.dry_run ? report.imported.slice(0, SHOWN).map(({ url, name }) => `  + ${url}  ${name}`) : []),
    ...report.unreachable
      .slice(0, SHOWN)
      .map(
        ({ url, message, advice, site_id }) =>
          `  ! ${url}  ${message}${advice === '' ? '' : ` ${advice}`}${site_id === null ? ' (not stored)' : ''}`,
      ),
    ...report.invalid
      .slice(0, SHOWN)
      .map(({ where, url, message }) => `  x ${where}${url === '' ? '' : `, ${url}`}: ${message}`),
    ...(fleet?.warnings ?? []).slice(0, SHOWN).map((warning) => `  i ${warning}`),
    ...nextSteps(report, fleet),
  ];
  return lines
    .map((line) => withRealDomains(line).replace(INVISIBLE, (char) => (char === '\n' ? char : ' ')))
    .join('\n');
}

function linksText({ tags, clients, costs, ignored_everywhere, dry_run }: ImportReport): string {
  const made = dry_run ? 'would be added' : 'added';
  return `${tags.added} tags, ${clients.added} clients and ${costs.added} costs ${made}; ${tags.exists}, ${clients.exists} and ${costs.exists} exist; ${ignored_everywhere} updates ignored on every site`;
}

/** What hides updates on every site from now on. The names are those of the file. */
function ignoredText({ ignored }: ImportReport): string[] {
  const lines = ignored.slice(0, SHOWN).map(({ type, slug, version }) => {
    const which = version === '*' ? 'every version' : `version ${JSON.stringify(sentence(version))}`;
    return `  - ignored on every site: ${type} ${JSON.stringify(sentence(slug))}, ${which}`;
  });
  return ignored.length > SHOWN ? [...lines, `  - … and ${ignored.length - SHOWN} more, which --json lists`] : lines;
}

function nextSteps(report: ImportReport | RowsReport, fleet: ImportReport | undefined): string[] {
  if (report.dry_run) return ['Nothing was changed, and no site was contacted.'];
  const steps: string[] = [];
  if (report.pending.length > 0) steps.push('The run ended early: run it again to continue where it stopped.');
  if (report.unreachable.some(({ site_id }) => site_id !== null)) {
    steps.push(
      'Unreachable sites are stored and shown as disconnected; each sync tries them again, and so does importing the file again.',
    );
  }
  if (fleet !== undefined && report.imported.length > 0) steps.push(fleet.parallel ? TRIAL_ADVICE : TAKEN_ADVICE);
  return steps;
}
