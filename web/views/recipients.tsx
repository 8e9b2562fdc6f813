/** Recipients of notifications: by mail, and by webhooks and chats, each with a test. */

import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { AddButton, Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { BellRing, Pencil, Send } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { RecipientForm, type StoredRecipient, wantsOf } from './recipient-form.js';

export function Recipients() {
  const write = useMayWrite();
  const [adding, setAdding] = useState(false);
  const [editing, setEditing] = useState<StoredRecipient | null>(null);
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
      if (!data.delivered) throw new ApiError(-1, '', `${message} ${data.error}`.trim(), null);
      return t.recipients.arrived;
    });
  const remove = (id: number) =>
    trying(async () => {
      const { message } = await answer(api.DELETE('/alerts/recipients/{recipient_id}/delete', at(id)));
      refresh('settings:recipients');
      return message;
    });
  return (
    <Card
      id="recipients"
      title={t.settings.card.recipients}
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
              {data.map((recipient) => {
                const { id, name, type, host, active, last_sent, last_error } = recipient;
                return (
                  <li key={id}>
                    <span class="what">
                      <strong>{name}</strong>{' '}
                      <span class="muted">
                        {t.recipients.type[type]}
                        {host === null ? '' : ` · ${host}`}
                      </span>
                      {!active && <span class="muted"> · {t.recipients.off}</span>}
                      <span class="muted"> · {wantsOf(recipient)}</span>
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
                        <Button small icon={Pencil} label={`${t.edit}: ${name}`} onClick={() => setEditing(recipient)}>
                          {t.edit}
                        </Button>
                        <DeleteButton name={name} onClick={() => setRemoving({ id, name })} />
                      </span>
                    )}
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
      {adding && (
        <Dialog title={t.recipients.add} onClose={() => setAdding(false)}>
          <RecipientForm done={() => setAdding(false)} />
        </Dialog>
      )}
      {editing !== null && (
        <Dialog title={t.recipients.edit(editing.name)} onClose={() => setEditing(null)}>
          <RecipientForm of={editing} done={() => setEditing(null)} />
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
