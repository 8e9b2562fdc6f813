/** A job of the tools: its progress over all sites, and its failures. */

import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { JobState } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Card } from '../parts/page.js';
import { Progress } from '../parts/progress.js';
import { Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { t } from '../texts/texts.js';

const STATUS = {
  destroy_sessions: (destroy_id: string, signal: AbortSignal) =>
    answer(
      api.GET('/settings/tools/destroy-sessions-status/{destroy_id}', { params: { path: { destroy_id } }, signal }),
    ),
  renew_connections: (renew_id: string, signal: AbortSignal) =>
    answer(api.GET('/settings/tools/renew-connections-status/{renew_id}', { params: { path: { renew_id } }, signal })),
  disconnect_all_sites: (disconnect_id: string, signal: AbortSignal) =>
    answer(
      api.GET('/settings/tools/disconnect-all-sites-status/{disconnect_id}', {
        params: { path: { disconnect_id } },
        signal,
      }),
    ),
};
type Tool = keyof typeof STATUS;

export function isTool(type: string | undefined): type is Tool {
  return type !== undefined && type in STATUS;
}

export function ToolJob({ id, tool, close }: { id: string; tool: Tool; close: () => void }) {
  const job = useLoad(`jobs:tool:${id}`, (signal) => STATUS[tool](id, signal), { keepShown: true });
  useLiveRefresh(['job'], `jobs:tool:${id}`);
  return (
    <Card
      title={t.jobs.type[tool]}
      actions={
        <Button small onClick={close}>
          {t.close}
        </Button>
      }
    >
      <Loaded of={job}>
        {({ status, processed, failed, total, errors, started_at, completed_at }) => (
          <>
            <p class="under">
              <JobState status={status === 'pending' ? 'queued' : status} failed={failed} />
              <span class="muted">
                <Time iso={completed_at ?? started_at} otherwise={t.jobs.notBegun} />
              </span>
            </p>
            <Progress done={processed} failed={failed} total={total} label={t.jobs.type[tool]} />
            {failed > 0 && (
              <details open>
                <summary>{t.jobs.errors(failed)}</summary>
                <ul class="log">
                  {errors.map(({ site_id, error }) => (
                    <li key={site_id}>
                      <a class="what" href={`/sites/${site_id}`}>
                        {t.site.number(site_id)}
                      </a>
                      <span class="problem">{error}</span>
                    </li>
                  ))}
                </ul>
                {failed > errors.length && <p class="muted">{t.now.more(String(failed - errors.length))}</p>}
              </details>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}
