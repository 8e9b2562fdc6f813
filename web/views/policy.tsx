/** One policy: what it does when, what became of it, and what it would do now and would have done. */

import { useRoute } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { useMaySetPolicies } from '../api/session.js';
import { LinkButton } from '../parts/button.js';
import { CalendarClock, SearchX } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { PolicyButtons, PolicyState, Times } from './policies.js';
import { PolicyForm, type Stored } from './policy-form.js';
import { PolicyPreview } from './policy-preview.js';

function usePolicy() {
  const { params } = useRoute();
  const policy_id = /^[1-9]\d{0,14}$/.test(params.id ?? '') ? Number(params.id) : 0;
  const policy = useLoad(`policy:${policy_id}`, (signal) =>
    answer(api.GET('/policies/{policy_id}', { params: { path: { policy_id } }, signal })).then(
      ({ data }) => data as Stored,
    ),
  );
  return { policy_id, policy };
}

export function Policy() {
  const { policy_id, policy } = usePolicy();
  const may = useMaySetPolicies();
  const preview = useLoad(policy.data === undefined ? null : `policy:${policy_id}:preview`, (signal) =>
    answer(api.GET('/policies/{policy_id}/preview', { params: { path: { policy_id } }, signal })).then(
      ({ data }) => data,
    ),
  );
  if (policy.error?.status === 404) return <Missing />;
  const shown = policy.data;
  return (
    <Page
      title={shown?.name ?? t.policies.one}
      about={
        shown && (
          <span class="under">
            <PolicyState policy={shown} />
            <span>
              {t.policies.changedBy(t.who(shown.changed_by))}, <Time iso={shown.changed_at} />
            </span>
            <a href="/policies">{t.policies.all}</a>
          </span>
        )
      }
    >
      <Loaded of={policy} rows={4}>
        {(told) => (
          <Card>
            <p>{told.summary}</p>
            <Times policy={told} />
            <PolicyButtons policy={told} />
            {!may && <p class="muted">{t.policies.aboutOther}</p>}
          </Card>
        )}
      </Loaded>
      {shown !== undefined && <Loaded of={preview}>{(told) => <PolicyPreview of={told} />}</Loaded>}
    </Page>
  );
}

function Missing() {
  return (
    <Page title={t.policies.missing}>
      <Empty icon={SearchX} title={t.policies.missing}>
        <LinkButton href="/policies">{t.policies.all}</LinkButton>
      </Empty>
    </Page>
  );
}

export function EditPolicy() {
  const { policy_id, policy } = usePolicy();
  const may = useMaySetPolicies();
  if (policy.error?.status === 404) return <Missing />;
  if (!may || policy.data?.source === 'settings') return <NotYours />;
  return (
    <Page title={t.policies.editTitle(policy.data?.name ?? '')}>
      <Loaded of={policy} rows={8}>
        {(told) => <PolicyForm key={policy_id} of={{ ...told, policy_id }} />}
      </Loaded>
    </Page>
  );
}

export function NewPolicy() {
  const may = useMaySetPolicies();
  if (!may) return <NotYours />;
  return (
    <Page title={t.policies.add} about={t.policies.addAbout}>
      <PolicyForm />
    </Page>
  );
}

function NotYours() {
  return (
    <Page title={t.policies.all}>
      <Empty icon={CalendarClock} title={t.policies.notYours}>
        <p>{t.policies.aboutOther}</p>
        <LinkButton href="/policies">{t.policies.all}</LinkButton>
      </Empty>
    </Page>
  );
}
