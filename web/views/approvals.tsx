/** Changes that wait for a person, with what they would do: approved or refused here, also by thumb. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayApprove } from '../api/session.js';
import { ApprovalRules } from '../parts/approval-rules.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { TextField, useText } from '../parts/field.js';
import { Check, ClipboardCheck, X } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { visible } from '../parts/visible.js';
import { t } from '../texts/texts.js';

type Request = paths['/approvals']['get']['responses'][200]['content']['application/json']['data'][number];

const PER_PAGE = 30;

export function Approvals() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const may = useMayApprove();
  const requests = useLoad(
    `approvals:${page}`,
    (signal) => answer(api.GET('/approvals', { params: { query: { page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  const waiting = requests.data?.data.filter(({ state }) => state === 'waiting').length ?? 0;
  return (
    <Page title={t.nav.approvals} waiting={waiting} about={may ? t.approvals.about : t.approvals.aboutOwn}>
      <Loaded of={requests} rows={4}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty icon={ClipboardCheck} title={t.approvals.none}>
              <p>{t.approvals.noneText}</p>
            </Empty>
          ) : (
            <>
              {data.map((request) => (
                <RequestCard key={request.approval_id} request={request} />
              ))}
              <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            </>
          )
        }
      </Loaded>
      <Card title={t.approvals.rulesTitle}>
        <ApprovalRules />
      </Card>
    </Page>
  );
}

function RequestCard({ request }: { request: Request }) {
  const { approval_id, title, state, sites, changes, asked_by, client, decided_by, note, own } = request;
  const may = useMayApprove();
  const [refusing, setRefusing] = useState(false);
  const at = { params: { path: { approval_id } } };
  const approve = async () => {
    await trying(async () => (await answer(api.POST('/approvals/{approval_id}/approve', { ...at, body: {} }))).message);
    refresh('approvals:');
  };
  const withdraw = async () => {
    await trying(async () => (await answer(api.POST('/approvals/{approval_id}/withdraw', at))).message);
    refresh('approvals:');
  };
  return (
    <Card id={approval_id} title={sites === null || sites === 0 ? title : t.approvals.onSites(title, sites)}>
      <p class="muted">
        {t.approvals.askedBy(asked_by, client)}, <Time iso={request.asked_at} /> · {t.approvals.state[state]}
        {decided_by !== null && ` · ${decided_by}`}
      </p>
      {note !== '' && (state === 'not_needed' ? <p>{note}</p> : <q class="seen">{note}</q>)}
      {changes.length > 1 && (
        <ul class="plan-lines">
          {changes.map(({ kind, sites: on }) => (
            <li key={kind}>{t.approvals.change(kind, on)}</li>
          ))}
        </ul>
      )}
      <Plan request={request} />
      {state === 'waiting' && own && <p>{t.approvals.ownRequest}</p>}
      {(state === 'waiting' || state === 'approved') && own && (
        <div class="row decide">
          <Button icon={X} label={`${t.approvals.withdraw}: ${title}`} onClick={withdraw}>
            {t.approvals.withdraw}
          </Button>
        </div>
      )}
      {state === 'waiting' && may && !own && (
        <div class="row decide">
          <Button kind="main" icon={Check} label={`${t.approvals.approve}: ${title}`} onClick={approve}>
            {t.approvals.approve}
          </Button>
          <Button icon={X} label={`${t.approvals.refuse}: ${title}`} onClick={() => setRefusing(true)}>
            {t.approvals.refuse}
          </Button>
        </div>
      )}
      {refusing && <Refuse request={request} close={() => setRefusing(false)} />}
    </Card>
  );
}

function Refuse({ request: { approval_id, title }, close }: { request: Request; close: () => void }) {
  const note = useText();
  const refuse = async () => {
    await trying(
      async () =>
        (
          await answer(
            api.POST('/approvals/{approval_id}/refuse', {
              params: { path: { approval_id } },
              body: { note: note.value },
            }),
          )
        ).message,
    );
    close();
    refresh('approvals:');
  };
  return (
    <Dialog
      title={title}
      onClose={close}
      confirm={
        <Button kind="danger" onClick={refuse}>
          {t.approvals.refuse}
        </Button>
      }
    >
      <p>{t.approvals.refuseText}</p>
      <TextField label={t.approvals.note} {...note} />
    </Dialog>
  );
}

/** Lines that are shown at once; the rest can be opened. */
const LINES = 8;

function Plan({ request: { plan, input, operation } }: { request: Request }) {
  const lines = linesOf(plan);
  const rest = lines.slice(LINES);
  return (
    <>
      <ul class="plan-lines">
        {lines.slice(0, LINES).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <details>
        <summary>{rest.length === 0 ? t.approvals.call : t.approvals.more(rest.length)}</summary>
        <ul class="plan-lines">
          {rest.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        <pre>
          {operation} {visible(JSON.stringify(input, null, 2))}
        </pre>
      </details>
    </>
  );
}

/** What is of no interest to the person who decides: the title says it, or another member. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'dry_run',
  'queued',
  'deleted',
  'digest',
  'protection',
  'already_started',
  'total_errors',
  'id',
  'site_id',
]);

/**
 * A plan of any call in lines: sites by name and address, other members with their names, and of each item of a list its values.
 * Calls over REST have theirs in `data`.
 */
function linesOf(plan: unknown): string[] {
  return [...new Set(memberLines(plan, ''))];
}

function memberLines(plan: unknown, name: string, among = false): string[] {
  if (plan === null || plan === undefined || plan === '' || LEFT_OUT.has(name)) return [];
  if (Array.isArray(plan))
    return plan.map(
      (item) =>
        `${among && name !== '' ? `${name.replaceAll('_', ' ')}: ` : ''}${typeof item === 'object' && item !== null ? itemOf(item) : item}`,
    );
  // A summary is a sentence, which needs no name.
  if (typeof plan !== 'object')
    return [name === '' || name === 'summary' ? String(plan) : `${name.replaceAll('_', ' ')}: ${plan}`];
  const { url, site_url = url, name: title, ...members } = plan as Record<string, unknown>;
  if (typeof site_url !== 'string') {
    // Of several lists it matters which one an item is in: what is removed, and what is only changed. No errors are no list.
    const lists = Object.entries(plan).filter(
      ([member, value]) => Array.isArray(value) && (member !== 'errors' || value.length > 0),
    );
    const among = lists.length > 1;
    return Object.entries(plan).flatMap(([member, value]) =>
      memberLines(value, member === 'data' ? '' : member, among),
    );
  }
  const site = [title, t.address(site_url)].filter((part) => typeof part === 'string').join(' · ');
  return [site, ...Object.entries(members).flatMap(([member, value]) => memberLines(value, member))];
}

function itemOf(item: object): string {
  return Object.entries(item)
    .filter(([, value]) => ['string', 'number'].includes(typeof value) && value !== '')
    .map(([name, value]) => (typeof value === 'number' ? `${name.replaceAll('_', ' ')} ${value}` : value))
    .join(' · ');
}
