/** Undoing a change, after its plan was shown: what is restored to what, and what is left as it is. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Undo2 } from '../parts/icons.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

/** A change by its entry in the log, or a rollout. */
type Undone = { change_id: string } | { rollout_id: string };

interface Props {
  of: Undone;
  what: string;
  title?: string;
}

export function UndoChange(props: Props) {
  const { what } = props;
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small icon={Undo2} label={`${t.undo}: ${what}`} onClick={() => setOpen(true)}>
        {t.undo}
      </Button>
      {open && <Plan {...props} close={() => setOpen(false)} />}
    </>
  );
}

function Plan({ of, what, title = t.undoPlan.title, close }: Props & { close: () => void }) {
  const plan = useLoad(`undo:${JSON.stringify(of)}`, async (signal) => {
    const body = { ...of, dry_run: true };
    return (await answer(api.POST('/actions/undo', { body, signal }))).data;
  });
  const undo = async () => {
    const body = { ...of, confirm: true, digest: plan.data?.digest };
    await trying(async () => (await answer(api.POST('/actions/undo', { body }))).message);
    close();
    refresh('history:', 'rollout', 'run', 'site:', 'sites:', 'now:', 'tags:', 'clients:', 'settings:');
  };
  const possible = (plan.data?.total_undo ?? 0) > 0;
  return (
    <Dialog
      title={title}
      onClose={close}
      {...(possible && {
        confirm: (
          <Button kind="main" icon={Undo2} onClick={undo}>
            {t.undo}
          </Button>
        ),
      })}
    >
      <p>{what}</p>
      <Loaded of={plan}>
        {({ undo: steps = [], total_undo = 0, errors, total_errors }) => (
          <>
            {steps.length > 0 && (
              <ul>
                {steps.map(({ site_url, name, slug, field, now, back_to, caution }) => (
                  <li key={`${site_url} ${name} ${slug} ${field}`}>
                    {t.undoPlan.step([site_url, name, field].filter(Boolean).join(' · '), now, back_to)}
                    {caution !== undefined && <div class="small muted">{caution}</div>}
                  </li>
                ))}
              </ul>
            )}
            {total_undo > steps.length && <p class="muted">{t.now.more(number(total_undo - steps.length))}</p>}
            {errors.length > 0 && (
              <>
                <p>{t.undoPlan.left}</p>
                <ul>
                  {errors.map(({ site_url, name, message, action_id }) => (
                    <li key={`${site_url} ${name} ${action_id} ${message}`}>
                      {[site_url, name, message].filter(Boolean).join(' · ')}
                    </li>
                  ))}
                </ul>
                {total_errors > errors.length && (
                  <p class="muted">{t.now.more(number(total_errors - errors.length))}</p>
                )}
              </>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
