/** Rollouts of updates, newest first: who started which, and how each stands. */

import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { Badge } from '../parts/badge.js';
import { LinkButton } from '../parts/button.js';
import { Waves } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { number, Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { ROLLOUT, type RolloutEntry, rolloutAddress } from './rollout-states.js';
import { UpdateTabs } from './update-tabs.js';
import { WaitingPlans } from './waiting-plans.js';

const PER_PAGE = 20;

export function Rollouts() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const rollouts = useLoad(
    `rollouts:${page}`,
    (signal) => answer(api.GET('/rollouts', { params: { query: { page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['updates', 'job'], 'rollouts:', 3000);
  return (
    <Page title={t.rollouts.all} about={rollouts.data && t.rollouts.count(number(rollouts.data.total))}>
      <UpdateTabs at="rollouts" />
      <WaitingPlans />
      <Loaded of={rollouts} rows={6}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty icon={Waves} title={t.rollouts.none}>
              <p>{t.rollouts.noneText}</p>
              <LinkButton href="/updates/plan">{t.plan.title}</LinkButton>
            </Empty>
          ) : (
            <Table
              heads={[t.rollouts.one, t.inventory.state, t.runs.outcome, t.jobs.by]}
              pages={{ page, perPage: PER_PAGE, total, go: pageIn(change) }}
            >
              {data.map((rollout) => (
                <tr key={rollout.rollout_id}>
                  <th scope="row">
                    <a href={rolloutAddress(rollout.rollout_id)}>
                      {t.rollouts.of} <Time iso={rollout.started_at} />
                    </a>
                  </th>
                  <td data-label={t.inventory.state}>
                    <RolloutState rollout={rollout} />
                  </td>
                  <td data-label={t.runs.outcome}>{t.rollouts.counts(rollout.counts)}</td>
                  <td data-label={t.jobs.by}>{t.who(rollout.by)}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Page>
  );
}

export function RolloutState({ rollout }: { rollout: RolloutEntry }) {
  const word = rollout.approval_wave === null ? t.rollouts.state[rollout.state] : t.rollouts.waits;
  const look = rollout.approval_wave === null ? ROLLOUT[rollout.state] : ({ ...ROLLOUT.paused, tone: 'warn' } as const);
  return <Badge {...look}>{word}</Badge>;
}

const LISTED = 20;

/** Those that need a person, and those at work: above all else, where there are any. */
export function RolloutLines() {
  const { data } = useLoad('now:rollouts', (signal) =>
    answer(api.GET('/rollouts', { params: { query: { per_page: LISTED } }, signal })),
  );
  // One that was halted is followed up by the next one.
  const shown = (data?.data ?? []).filter((one, at) => one.ended_at === null || (at === 0 && one.state === 'halted'));
  if (shown.length === 0) return null;
  return (
    <Card title={t.rollouts.all}>
      <ul class="lines rollouts">
        {shown.map((rollout) => (
          <li key={rollout.rollout_id} class="under">
            <RolloutState rollout={rollout} />
            <a href={rolloutAddress(rollout.rollout_id)}>
              {rollout.approval_wave === null
                ? t.rollouts.counts(rollout.counts)
                : t.rollouts.waveWaits(rollout.approval_wave)}
            </a>
            {rollout.state === 'halted' && <span class="muted">{rollout.reason}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
