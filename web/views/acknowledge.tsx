/** Acknowledging an incident: everyone sees that a person is on it, who, and what is known. */

import { Eye } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { TextField, useText } from '../parts/field.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

/** Marks the incident as seen, or takes the mark back; returns what was done. */
async function mark(incident_id: number, acknowledged: boolean, note: string): Promise<string> {
  const { message } = await answer(
    api.POST('/incidents/{incident_id}/acknowledge', {
      params: { path: { incident_id } },
      body: { acknowledged, ...(note === '' ? {} : { note }) },
    }),
  );
  refresh('now:', 'site:', 'monitors:');
  return message;
}

/** @param of the site, for screen readers */
export function Acknowledge({ incident, of }: { incident: number; of: string }) {
  const [open, setOpen] = useState(false);
  const note = useText();
  const acknowledge = () =>
    trying(
      () => mark(incident, true, note.value),
      () => mark(incident, false, ''),
    ).then(() => setOpen(false));
  return (
    <>
      <Button small icon={Eye} label={`${t.acknowledge.button}: ${of}`} onClick={() => setOpen(true)}>
        {t.acknowledge.button}
      </Button>
      {open && (
        <Dialog
          title={t.acknowledge.title(of)}
          onClose={() => setOpen(false)}
          confirm={
            <Button kind="main" icon={Eye} onClick={acknowledge}>
              {t.acknowledge.button}
            </Button>
          }
        >
          <p>{t.acknowledge.text}</p>
          <TextField label={t.acknowledge.note} name="note" {...note} />
        </Dialog>
      )}
    </>
  );
}
