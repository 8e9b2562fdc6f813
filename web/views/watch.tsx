/** Asks whether to watch all sites, where monitoring is off. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Activity } from '../parts/icons.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

/** The hourly default of the API is too seldom for a person who wants to hear of an outage. */
const WATCHED = { svc_uptime_monitoring_active: 1, svc_uptime_monitoring_interval: 5 } as const;

/** Switches monitoring on for all sites, every five minutes; returns what to say. */
export async function watchAll(): Promise<string> {
  await answer(api.PATCH('/settings/monitoring/edit', { body: WATCHED }));
  refresh('monitors:', 'now:', 'settings:');
  return t.monitors.nowOn;
}

/** The question; nothing while monitoring is on, or after it was declined in this visit. */
export function WatchQuestion() {
  const [declined, decline] = useState(false);
  const settings = useLoad('settings:monitoring', (signal) =>
    answer(api.GET('/settings/monitoring', { signal })).then(({ data }) => data),
  );
  if (declined || settings.data === undefined || settings.data.svc_uptime_monitoring_active === 1) return null;
  return (
    <div class="note banner">
      <p>
        <strong>{t.start.monitor}</strong> {t.start.monitorText}
      </p>
      <div class="row">
        <Button small kind="main" icon={Activity} onClick={() => trying(watchAll)}>
          {t.start.watch}
        </Button>
        <Button small kind="quiet" onClick={() => decline(true)}>
          {t.start.notNow}
        </Button>
      </div>
    </div>
  );
}
