/** The form of a client: a new one, or changes of its record. */

import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { Dialog } from '../parts/dialog.js';
import { TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';

interface Known {
  id: number;
  name: string;
  email: string;
  phone: string;
  note: string;
}

export function EditClient({ client, close }: { client?: Known; close: () => void }) {
  const name = useText(client?.name);
  const email = useText(client?.email);
  const phone = useText(client?.phone);
  const note = useText(client?.note);
  const save = async () => {
    const given = { client_email: email.value, client_phone: phone.value, note: note.value };
    // For an existing client, an empty field clears the stored value.
    const details = client ? given : Object.fromEntries(Object.entries(given).filter(([, text]) => text !== ''));
    const body = { name: name.value, ...details };
    const { message } = await (client === undefined
      ? answer(api.POST('/clients/add', { body }))
      : answer(
          api.POST('/clients/{id_or_email}/edit', { params: { path: { id_or_email: String(client.id) } }, body }),
        ));
    showToast(message);
    close();
    refresh('clients:', 'owners:');
  };
  return (
    <Dialog title={client === undefined ? t.clients.add : client.name} onClose={close}>
      <Form onSubmit={save}>
        <TextField label={t.clients.name} name="name" {...name} required />
        <TextField label={t.clients.email} name="client_email" type="email" {...email} />
        <TextField label={t.clients.phone} name="client_phone" {...phone} />
        <TextField label={t.clients.note} name="note" {...note} />
        <FormEnd send={t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
