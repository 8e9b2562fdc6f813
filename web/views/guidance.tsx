/** Guidance: what to watch out for before sites are changed. People write it, and confirm or remove what programs proposed. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { AddButton, Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { CircleHelp, ShieldCheck } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

const PER_PAGE = 20;

interface Entry {
  id: number;
  site_id: number | null;
  site_name: string | null;
  client_id: number | null;
  client_name: string | null;
  text: string;
  by: string;
  /** null = no end. */
  until: string | null;
  verified: boolean;
}

/** What it is shown for; without either, all of it. New entries are of that. */
interface Of {
  site?: number;
  client?: number;
}

const asked = ({ site, client }: Of) => ({
  ...(site === undefined ? {} : { site_id_or_domain: site }),
  ...(client === undefined ? {} : { client_id_or_email: client }),
});

/** @param ifAny shows nothing where there is none */
export function GuidanceCard({ of = {}, ifAny = false }: { of?: Of; ifAny?: boolean }) {
  const write = useMayWrite();
  const [page, setPage] = useState(1);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Entry | null>(null);
  const entries = useLoad(
    `guidance:${JSON.stringify(of)}:${page}`,
    (signal) => answer(api.GET('/guidance', { params: { query: { ...asked(of), page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  const decide = (work: Promise<{ message: string }>) =>
    trying(async () => {
      const { message } = await work;
      refresh('guidance:');
      return message;
    });
  const pathOf = ({ id }: Entry) => ({ params: { path: { guidance_id: id } } });
  if (ifAny && (entries.data?.total ?? 0) === 0) return null;
  return (
    <Card
      title={t.guidance.title}
      actions={write && <AddButton text={t.guidance.add} onClick={() => setAdding(true)} />}
    >
      <Loaded of={entries}>
        {({ data, total }) => (
          <>
            <p class="muted small">{total === 0 ? t.guidance.none : t.guidance.about}</p>
            <ul class="log">
              {data.map((entry) => (
                <li key={entry.id}>
                  <div class="what">
                    {entry.text}
                    <State entry={entry} />
                  </div>
                  {write && (
                    <span class="under">
                      {!entry.verified && (
                        <Button
                          small
                          icon={ShieldCheck}
                          label={`${t.guidance.confirm}: ${entry.text}`}
                          onClick={() => decide(answer(api.POST('/guidance/{guidance_id}/confirm', pathOf(entry))))}
                        >
                          {t.guidance.confirm}
                        </Button>
                      )}
                      <DeleteButton name={entry.text} onClick={() => setRemoving(entry)} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
            <Pager page={page} perPage={PER_PAGE} total={total} go={setPage} />
          </>
        )}
      </Loaded>
      {adding && <AddGuidance of={of} close={() => setAdding(false)} />}
      {removing !== null && (
        <Confirm
          title={t.guidance.removeTitle}
          text={removing.text}
          onConfirm={() => decide(answer(api.DELETE('/guidance/{guidance_id}/remove', pathOf(removing))))}
          onClose={() => setRemoving(null)}
        />
      )}
    </Card>
  );
}

/** Of what it is, who said so, until when, and whether a person did. */
function State({ entry }: { entry: Entry }) {
  return (
    <p class="small muted">
      {!entry.verified && (
        <>
          <Badge tone="warn" icon={CircleHelp}>
            {t.guidance.unverified}
          </Badge>{' '}
        </>
      )}
      <Whom entry={entry} />, {(entry.verified ? t.guidance.by : t.guidance.proposed)(entry.by)}
      {entry.until !== null && (
        <>
          , {t.guidance.ends} <Time iso={entry.until} />
        </>
      )}
    </p>
  );
}

function Whom({ entry: { site_id, site_name, client_id, client_name } }: { entry: Entry }) {
  if (site_id !== null) return <a href={`/sites/${site_id}`}>{site_name}</a>;
  if (client_id !== null) return <a href={`/clients?id=${client_id}`}>{client_name}</a>;
  return <>{t.guidance.all}</>;
}

function AddGuidance({ of, close }: { of: Of; close: () => void }) {
  const text = useText();
  const until = useText();
  const add = async () => {
    const end = until.value === '' ? null : new Date(`${until.value}T23:59:59`).toISOString();
    const body = { ...asked(of), text: text.value.trim(), until: end };
    const { message } = await answer(api.POST('/guidance/add', { body }));
    showToast(message);
    refresh('guidance:');
    close();
  };
  return (
    <Dialog title={t.guidance.add} onClose={close}>
      <Form onSubmit={add}>
        <TextField label={t.guidance.text} name="text" {...text} required />
        <TextField label={t.guidance.until} name="until" type="date" {...until} hint={t.guidance.untilHint} />
        <FormEnd send={t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
