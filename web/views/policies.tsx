/** Policies of updates: what each does when, what became of it last, and the switch. Only those who may approve set them. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMaySetPolicies } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { Button, DeleteButton, LinkButton } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { CalendarClock, CirclePause, CirclePlay, Pencil, Plus } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { clock, rolloutAddress } from './rollout-states.js';
import { UpdateTabs } from './update-tabs.js';

type Entry = paths['/policies']['get']['responses'][200]['content']['application/json']['data'][number];

const PER_PAGE = 30;

export const policyAddress = (id: number) => `/policies/${id}`;

export function Policies() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const may = useMaySetPolicies();
  const policies = useLoad(
    `policies:${page}`,
    (signal) => answer(api.GET('/policies', { params: { query: { page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  return (
    <Page
      title={t.policies.all}
      about={may ? t.policies.about : t.policies.aboutOther}
      actions={
        may && (
          <LinkButton kind="main" icon={Plus} href="/policies/new">
            {t.policies.add}
          </LinkButton>
        )
      }
    >
      <UpdateTabs at="policies" />
      <Loaded of={policies} rows={4}>
        {({ data, total }) => (
          <>
            {total === 0 && (
              <Empty icon={CalendarClock} title={t.policies.none}>
                <p>{t.policies.noneText}</p>
              </Empty>
            )}
            {data.map((policy) => (
              <Card
                key={policy.policy_id}
                title={<a href={policyAddress(policy.policy_id)}>{policy.name}</a>}
                actions={<PolicyState policy={policy} />}
              >
                <p>{policy.summary}</p>
                <Times policy={policy} />
                <PolicyButtons policy={policy} />
              </Card>
            ))}
            <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Whether it acts. */
export function PolicyState({ policy: { enabled, acts } }: { policy: Entry }) {
  if (!enabled)
    return (
      <Badge tone="idle" icon={CirclePause}>
        {t.policies.off}
      </Badge>
    );
  return (
    <Badge tone={acts ? 'good' : 'warn'} icon={acts ? CirclePlay : CirclePause}>
      {acts ? t.policies.on : t.policies.idle}
    </Badge>
  );
}

/** When it starts next, and what became of its last time. */
export function Times({ policy: { next_at, last } }: { policy: Entry }) {
  return (
    <dl class="facts">
      <div>
        <dt>{t.policies.next}</dt>
        <dd>
          {next_at !== null && `${clock(next_at)}, `}
          <Time iso={next_at} otherwise={t.policies.notPlanned} />
        </dd>
      </div>
      <div>
        <dt>{t.policies.last}</dt>
        <dd>{last === null ? <span class="muted">{t.policies.neverDue}</span> : <Last of={last} />}</dd>
      </div>
    </dl>
  );
}

/** States whose detail says more than that something has begun, which is linked. */
const TOLD: readonly string[] = ['nothing', 'failed'];

function Last({ of: { at, state, detail, approval_id, rollout_id } }: { of: NonNullable<Entry['last']> }) {
  const word = t.policies.state[state];
  const href =
    rollout_id !== null
      ? rolloutAddress(rollout_id)
      : state === 'asked' && approval_id !== null
        ? `/approvals#${approval_id}`
        : null;
  return (
    <>
      {clock(at)}: {href === null ? word : <a href={href}>{word}</a>}
      {state === 'started' && approval_id !== null && (
        <>
          , <a href={`/approvals#${approval_id}`}>{t.policies.joined}</a>
        </>
      )}
      {TOLD.includes(state) && <span class="muted small"> {detail}</span>}
    </>
  );
}

/** What may be done with it: one of the settings is only set there. */
export function PolicyButtons({ policy }: { policy: Entry }) {
  const may = useMaySetPolicies();
  if (policy.source === 'settings')
    return (
      <p class="muted">
        <a href="/settings">{t.policies.inSettings}</a>
      </p>
    );
  return may ? <OwnButtons policy={policy} /> : null;
}

function OwnButtons({ policy: { policy_id, name, enabled } }: { policy: Entry }) {
  const { route } = useLocation();
  const [removing, setRemoving] = useState(false);
  const at = { params: { path: { policy_id } } };
  const turn = async () => {
    await trying(async () => {
      await answer(api.PATCH('/policies/{policy_id}', { ...at, body: { enabled: !enabled } }));
      return t.policies.turned(name, !enabled);
    });
    refresh('policies:', 'policy:', 'approvals:');
  };
  const remove = async () => {
    const removed = await trying(async () => (await answer(api.DELETE('/policies/{policy_id}', at))).message);
    if (removed) route('/policies');
    refresh('policies:', 'approvals:');
  };
  return (
    <div class="row">
      <LinkButton small icon={Pencil} href={`${policyAddress(policy_id)}/edit`} label={`${t.edit}: ${name}`}>
        {t.edit}
      </LinkButton>
      <Button
        small
        icon={enabled ? CirclePause : CirclePlay}
        label={`${t.policies.turn(!enabled)}: ${name}`}
        onClick={turn}
      >
        {t.policies.turn(!enabled)}
      </Button>
      <DeleteButton name={name} onClick={() => setRemoving(true)} />
      {removing && (
        <Confirm
          title={t.policies.removeTitle(name)}
          text={t.policies.removeText}
          onConfirm={remove}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}
