/** Applies what failed in a run once more. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { RotateCw } from '../parts/icons.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { startRun } from './starting-run.js';

/** After a preview: what broke its site or was rolled back is left alone. */
export function Retry({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const write = useMayWrite();
  const { route, url } = useLocation();
  const at = { params: { path: { run_id: id } } };
  const plan = useLoad(open ? `plan:retry:${id}` : null, (signal) =>
    answer(api.POST('/runs/{run_id}/retry', { ...at, body: { dry_run: true }, signal })),
  );
  const planned = plan.data?.would_update ?? [];
  const retry = () => {
    setOpen(false);
    startRun((as) => answer(api.POST('/runs/{run_id}/retry', { ...at, body: { as } })), { route, back: url });
  };
  if (!write) return null;
  return (
    <>
      <Button icon={RotateCw} onClick={() => setOpen(true)}>
        {t.runs.retry}
      </Button>
      {open && (
        <Dialog
          wide
          title={t.runs.retry}
          onClose={() => setOpen(false)}
          confirm={
            <Button kind="main" icon={RotateCw} disabled={planned.length === 0} onClick={retry}>
              {t.sites.updateCount(number(planned.length))}
            </Button>
          }
        >
          <Loaded of={plan}>
            {() => (
              <>
                <p>{planned.length === 0 ? t.runs.nothingToRetry : t.runs.retryText}</p>
                <ul class="lines">
                  {planned.map(({ site_id, site_name, name, slug, current_version, new_version }) => (
                    <li key={`${site_id} ${slug}`}>
                      <strong>{site_name}</strong>: {t.now.change(name, current_version, new_version)}
                    </li>
                  ))}
                </ul>
              </>
            )}
          </Loaded>
        </Dialog>
      )}
    </>
  );
}
