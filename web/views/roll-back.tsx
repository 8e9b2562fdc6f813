/** Rolling back to an earlier version, after confirmation. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check } from '../parts/field.js';
import { Undo2 } from '../parts/icons.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

interface Props {
  siteId: number;
  /** The update, or the item to roll back. */
  of: { change_id: string } | { type: 'plugin' | 'theme'; slug: string };
  name: string;
  /** The version to restore. */
  version: string;
  /** The version that is replaced. */
  from: string;
}

/** Triggers a check, so that the monitor sees at once that the site is up. Fails silently where monitoring is off. */
async function checkAgain(siteId: number): Promise<void> {
  const at = { params: { path: { id_or_domain: String(siteId) } } };
  await answer(api.POST('/monitors/{id_or_domain}/check', at)).catch(() => undefined);
}

export function RollBack({ siteId, of, name, version, from }: Props) {
  const [open, setOpen] = useState(false);
  const [hold, setHold] = useState(true);
  const rollBack = async () => {
    await trying(async () => {
      const { data, message } = await answer(
        api.POST('/sites/{id_or_domain}/rollback', {
          params: { path: { id_or_domain: String(siteId) } },
          body: { ...of, hold },
        }),
      );
      if (data.well) await checkAgain(siteId);
      return data.well ? t.rollBack.healthy(data.version) : `${message} ${t.rollBack.unhealthy}`;
    });
    setOpen(false);
    refresh('now:', 'site:', 'updates:', 'history:');
  };
  return (
    <>
      <Button small icon={Undo2} onClick={() => setOpen(true)}>
        {t.rollBack.button}
      </Button>
      {open && (
        <Dialog
          title={t.rollBack.title(name, version)}
          onClose={() => setOpen(false)}
          confirm={
            <Button kind="main" icon={Undo2} onClick={rollBack}>
              {t.rollBack.button}
            </Button>
          }
        >
          <p>{t.rollBack.text}</p>
          <Check label={t.rollBack.hold(from)} checked={hold} onChange={setHold} />
        </Dialog>
      )}
    </>
  );
}
