/** Stops a run that is at work. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Confirm } from '../parts/dialog.js';
import { CircleStop } from '../parts/icons.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

export function Stop({ id }: { id: string }) {
  const [asking, setAsking] = useState(false);
  const stop = async () => {
    await trying(
      async () => (await answer(api.POST('/runs/{run_id}/cancel', { params: { path: { run_id: id } } }))).message,
    );
    refresh(`run:${id}:`);
  };
  if (!useMayWrite()) return null;
  return (
    <>
      <Button icon={CircleStop} onClick={() => setAsking(true)}>
        {t.runs.stop}
      </Button>
      {asking && (
        <Confirm
          title={t.runs.stopTitle}
          text={t.runs.stopText}
          word={t.runs.stop}
          icon={CircleStop}
          leave={t.jobs.letRun}
          onConfirm={stop}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
