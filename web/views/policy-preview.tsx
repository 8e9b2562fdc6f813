/** What a policy would do now, what it would have begun in the last 30 days, and what is not known of them. */

import type { paths } from '../api/schema.js';
import { Card } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { number, Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { PlanShown } from './plan-shown.js';
import { bareSlug } from './run-states.js';

export type Preview = paths['/policies/preview']['post']['responses'][200]['content']['application/json']['data'];

export function PolicyPreview({ of: { now, past } }: { of: Preview }) {
  return (
    <>
      <Card title={t.policies.now}>
        <PlanShown plan={now} />
      </Card>
      <Card title={t.policies.past}>
        <p>{past.summary}</p>
        {past.versions.length > 0 && (
          <Table heads={[t.policies.version, t.policies.wouldHaveBegun, t.policies.firstOffered, t.policies.since]}>
            {past.versions.map((one) => (
              <tr key={`${one.type} ${one.slug} ${one.version}`}>
                <th scope="row">
                  {one.type === 'core' ? t.updateKind.core : bareSlug(one.slug)} {one.version}
                </th>
                <td data-label={t.policies.wouldHaveBegun}>
                  <Time day iso={one.would_have_begun_at} />
                </td>
                <td data-label={t.policies.firstOffered}>
                  <Time day iso={one.first_offered_at} />
                </td>
                <td data-label={t.policies.since}>
                  {t.policies.became(one.updated_before, one.updated_after, one.still_offered)}
                </td>
              </tr>
            ))}
          </Table>
        )}
        {past.more_versions > 0 && <p class="muted">{t.now.more(number(past.more_versions))}</p>}
        <h3>{t.policies.notKnown}</h3>
        <ul class="lines muted small">
          {past.not_known.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Card>
    </>
  );
}
