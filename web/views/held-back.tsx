/** Versions that broke a site and are held back from all others. */

import { ShieldAlert } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Icon } from '../parts/icon.js';
import { Card } from '../parts/page.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

export function HeldBack() {
  const write = useMayWrite();
  const held = useLoad('updates:held', (signal) =>
    answer(api.GET('/quarantine', { params: { query: { per_page: 50 } }, signal })),
  );
  const [asking, setAsking] = useState<Entry | null>(null);
  if (held.data === undefined || held.data.total === 0) return null;
  return (
    <Card title={t.held.title}>
      <p class="small muted">{t.held.about}</p>
      <ul class="log">
        {held.data.data.map((entry) => (
          <li key={`${entry.type} ${entry.slug} ${entry.version}`}>
            <span class="what">
              <Icon of={ShieldAlert} /> <strong>{entry.name}</strong> {entry.version}
            </span>
            <span class="muted">
              {entry.site_id === null ? (
                entry.site_url
              ) : (
                <a href={`/sites/${entry.site_id}?tab=updates`}>{t.address(entry.site_url)}</a>
              )}
              , <Time iso={entry.since} />
            </span>
            {entry.evidence[0] !== undefined && <q class="seen">{entry.evidence[0]}</q>}
            {write && (
              <div class="row">
                <Button small onClick={() => setAsking(entry)}>
                  {t.held.lift}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {asking !== null && <Lift entry={asking} close={() => setAsking(null)} />}
    </Card>
  );
}

interface Entry {
  type: 'core' | 'plugin' | 'theme' | 'translation';
  slug: string;
  version: string;
  name: string;
}

function Lift({ entry, close }: { entry: Entry; close: () => void }) {
  const { type, slug, version, name } = entry;
  const lift = async () => {
    await trying(
      async () => (await answer(api.DELETE('/quarantine', { params: { query: { type, slug, version } } }))).message,
    );
    close();
    refresh('updates:', 'site:');
  };
  return (
    <Dialog
      title={t.held.liftTitle(name, version)}
      onClose={close}
      confirm={
        <Button kind="danger" onClick={lift}>
          {t.held.lift}
        </Button>
      }
    >
      <p>{t.held.liftText}</p>
    </Dialog>
  );
}
