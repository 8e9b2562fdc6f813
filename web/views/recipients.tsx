/** Recipients of notifications: by mail, and by webhooks and chats, each with a test. */

import { BellRing, Send } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { AddButton, Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { SelectField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

const TYPES = ['webhook', 'slack', 'discord', 'teams', 'telegram', 'ntfy'] as const;
type Type = (typeof TYPES)[number];

export function Recipients() {
  const write = useMayWrite();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<{ id: number; name: string } | null>(null);
  const recipients = useLoad('settings:recipients', (signal) =>
    answer(api.GET('/alerts/recipients', { params: { query: { per_page: 100 } }, signal })),
  );
  const at = (recipient_id: number) => ({ params: { path: { recipient_id } } });
  const test = (id: number) =>
    trying(async () => {
      const { message, data } = await answer(
        api.POST('/alerts/recipients/{recipient_id}/test', { ...at(id), body: {} }),
      );
      refresh('settings:recipients');
      return data.delivered ? t.recipients.arrived : `${message} ${data.error}`.trim();
    });
  const remove = (id: number) =>
    trying(async () => {
      const { message } = await answer(api.DELETE('/alerts/recipients/{recipient_id}/delete', at(id)));
      refresh('settings:recipients');
      return message;
    });
  return (
    <Card
      title={t.recipients.title}
      actions={write && <AddButton text={t.recipients.add} onClick={() => setAdding(true)} />}
    >
      <Loaded of={recipients}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={BellRing} title={t.recipients.none}>
              <p>{t.recipients.noneText}</p>
            </Empty>
          ) : (
            <ul class="log">
              {data.map(({ id, name, type, host, active, last_sent, last_error }) => (
                <li key={id}>
                  <span class="what">
                    <strong>{name}</strong>{' '}
                    <span class="muted">
                      {t.recipients.type[type]}
                      {host === null ? '' : ` · ${host}`}
                    </span>
                    {!active && <span class="muted"> · {t.recipients.off}</span>}
                  </span>
                  <span class="muted">
                    {t.recipients.lastSent} <Time iso={last_sent} otherwise={t.never} />
                  </span>
                  {last_error !== '' && <span class="problem">{last_error}</span>}
                  {write && (
                    <span class="row">
                      <Button small icon={Send} label={`${t.recipients.test}: ${name}`} onClick={() => test(id)}>
                        {t.recipients.test}
                      </Button>
                      <DeleteButton name={name} onClick={() => setRemoving({ id, name })} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {adding && (
        <Dialog title={t.recipients.add} onClose={() => setAdding(false)}>
          <RecipientForm done={() => setAdding(false)} />
        </Dialog>
      )}
      {removing !== null && (
        <Confirm
          title={t.recipients.removeTitle(removing.name)}
          text={t.recipients.removeText}
          onConfirm={() => remove(removing.id)}
          onClose={() => setRemoving(null)}
        />
      )}
    </Card>
  );
}

/** @param done called with the id of the new recipient, null when cancelled */
export function RecipientForm({ done }: { done: (id: number | null) => void }) {
  const [type, setType] = useState<Type>('slack');
  const name = useText();
  const url = useText();
  const token = useText();
  const chat = useText();
  const [secret, setSecret] = useState<{ id: number; text: string } | null>(null);
  const telegram = type === 'telegram';
  const save = async () => {
    const target = telegram ? { token: token.value, chat_id: chat.value } : { url: url.value };
    const {
      data,
      message,
      secret: made,
    } = await answer(
      api.POST('/alerts/recipients/add', {
        body: { type, name: name.value.trim() || t.recipients.type[type], ...target },
      }),
    );
    refresh('settings:recipients');
    showToast(message);
    if (made === undefined) done(data.id);
    else setSecret({ id: data.id, text: made });
  };
  if (secret !== null)
    return (
      <>
        <p>{t.recipients.secret}</p>
        <pre class="token">{secret.text}</pre>
        <div class="row end">
          <Button kind="main" onClick={() => done(secret.id)}>
            {t.access.kept}
          </Button>
        </div>
      </>
    );
  return (
    <Form onSubmit={save}>
      <SelectField
        label={t.recipients.by}
        value={type}
        onChange={(next) => setType(TYPES.find((one) => one === next) ?? 'webhook')}
        options={TYPES.map((one) => [one, t.recipients.type[one]] as const)}
      />
      {telegram ? (
        <>
          <TextField label={t.recipients.token} name="token" type="password" {...token} required />
          <TextField label={t.recipients.chat} name="chat_id" {...chat} required />
        </>
      ) : (
        <TextField label={t.recipients.url} name="url" hint={t.recipients.urlHint[type]} type="url" {...url} required />
      )}
      <TextField label={t.recipients.name} name="name" {...name} />
      <FormEnd send={t.save} cancel={() => done(null)} />
    </Form>
  );
}
