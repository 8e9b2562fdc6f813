/** The mails that are sent: to whom, and each on its own with its words. */

import { useEffect, useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Pencil } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Saved } from '../parts/saved.js';
import { Loaded } from '../parts/states.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

/** Sitefleet has no licences. */
const NEVER_SENT = ['deactivated_license_alert'];

interface Mail {
  type: string;
  label: string;
  description: string;
  heading: string;
  subject: string;
  recipients: string;
  disable: number;
}
type Change = Partial<Pick<Mail, 'heading' | 'subject' | 'recipients'>> & { disable?: 0 | 1 };

const edit = (type: string, body: Change) =>
  answer(api.PATCH('/settings/emails/{mail_type}/edit', { params: { path: { mail_type: type as 'uptime' } }, body }));

export function Mails() {
  const write = useMayWrite();
  const [editing, setEditing] = useState<Mail | null>(null);
  const mails = useLoad('settings:emails', (signal) =>
    answer(api.GET('/settings/emails', { signal })).then(({ data }) => data),
  );
  const [recipients, setRecipients] = useState('');
  const shown = (mails.data ?? []).filter(({ type }) => !NEVER_SENT.includes(type));
  const known = shown.find(({ recipients: to }) => to !== '')?.recipients ?? '';
  useEffect(() => setRecipients(known), [known]);
  const save = async () => {
    try {
      for (const { type } of shown) await edit(type, { recipients });
      showToast(t.settings.mailSaved);
    } finally {
      refresh('settings:');
    }
  };
  const toggle = async (type: string, on: boolean) => {
    const saved = await trying(async () => (await edit(type, { disable: on ? 0 : 1 })).message ?? null);
    refresh('settings:emails');
    return saved;
  };
  return (
    <Card id="mail" title={t.settings.card.mail}>
      <Loaded of={mails}>
        {() => (
          <>
            {write && (
              <Form onSubmit={save}>
                <TextField
                  label={t.settings.mailTo}
                  name="recipients"
                  hint={t.settings.mailHint}
                  value={recipients}
                  onInput={setRecipients}
                  autocomplete="email"
                />
                <FormEnd send={t.save} />
              </Form>
            )}
            <ul class="lines">
              {shown.map((mail) => (
                <li key={mail.type}>
                  {write ? (
                    <span class="spread">
                      <Saved value={mail.disable === 0} save={(on) => toggle(mail.type, on)}>
                        {(on, choose) => <Check label={mail.label} checked={on} onChange={choose} />}
                      </Saved>
                      <Button
                        small
                        kind="quiet"
                        icon={Pencil}
                        label={`${t.edit}: ${mail.label}`}
                        onClick={() => setEditing(mail)}
                      >
                        {t.edit}
                      </Button>
                    </span>
                  ) : (
                    <strong>
                      {mail.label}: {mail.disable === 0 ? t.settings.on : t.settings.off}
                    </strong>
                  )}
                  <span class="muted small">
                    {mail.description} {mail.recipients === '' ? t.settings.nobody : t.settings.goesTo(mail.recipients)}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {editing && <MailDialog mail={editing} close={() => setEditing(null)} />}
    </Card>
  );
}

function MailDialog({ mail, close }: { mail: Mail; close: () => void }) {
  const recipients = useText(mail.recipients);
  const subject = useText(mail.subject);
  const heading = useText(mail.heading);
  const save = async () => {
    const { message } = await edit(mail.type, {
      recipients: recipients.value,
      subject: subject.value,
      heading: heading.value,
    });
    if (message !== undefined) showToast(message);
    refresh('settings:emails');
    close();
  };
  return (
    <Dialog title={mail.label} onClose={close}>
      <Form onSubmit={save}>
        <TextField
          label={t.settings.mailTo}
          name="recipients"
          hint={t.settings.mailOwnHint}
          {...recipients}
          autocomplete="email"
        />
        <TextField label={t.settings.subject} name="subject" hint={t.settings.subjectHint} {...subject} />
        <TextField label={t.settings.heading} name="heading" {...heading} />
        <FormEnd send={t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
