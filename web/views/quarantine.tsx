/** Versions that broke a site, where they are quarantined, and changing that. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { ShieldAlert } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

export function Quarantine() {
  const write = useMayWrite();
  const quarantined = useLoad('updates:quarantine', (signal) =>
    answer(api.GET('/quarantine', { params: { query: { per_page: 50 } }, signal })),
  );
  const [asking, setAsking] = useState<Entry | null>(null);
  const [setting, setSetting] = useState<Entry | null>(null);
  if (quarantined.data === undefined || quarantined.data.total === 0) return null;
  return (
    <Card title={t.quarantine.title}>
      <p class="small muted">{t.quarantine.about}</p>
      <ul class="log">
        {quarantined.data.data.map((entry) => (
          <li key={`${entry.type} ${entry.slug} ${entry.version}`}>
            <span>
              <Icon of={ShieldAlert} /> <strong>{entry.name}</strong> {entry.version}
            </span>
            <span class="muted">
              <a href={`/sites/${entry.site_id}?tab=updates`}>{t.address(entry.site_url)}</a>,{' '}
              <Time iso={entry.since} />
            </span>
            <span class="muted">
              {entry.scope === 'fleet' ? t.quarantine.scope.fleet : t.quarantine.scope.site(entry.sites)}
              {entry.fleet_until !== null && (
                <>
                  , {t.quarantine.until} <Time iso={entry.fleet_until} />
                </>
              )}
            </span>
            {entry.scope_by !== null && (
              <q class="seen">{t.quarantine.setBy(entry.scope_by, entry.scope_reason ?? '')}</q>
            )}
            {entry.evidence[0] !== undefined && <q class="seen">{entry.evidence[0]}</q>}
            {write && (
              <div class="row">
                <Button small onClick={() => setAsking(entry)}>
                  {t.quarantine.lift}
                </Button>
                <Button small onClick={() => setSetting(entry)}>
                  {t.quarantine.set[other(entry)]}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {asking !== null && <Lift entry={asking} close={() => setAsking(null)} />}
      {setting !== null && <SetScope entry={setting} close={() => setSetting(null)} />}
    </Card>
  );
}

interface Entry {
  type: 'core' | 'plugin' | 'theme' | 'translation';
  slug: string;
  version: string;
  name: string;
  scope: 'site' | 'fleet';
}

function other({ scope }: Entry): 'site' | 'fleet' {
  return scope === 'fleet' ? 'site' : 'fleet';
}

function SetScope({ entry, close }: { entry: Entry; close: () => void }) {
  const { type, slug, version, name } = entry;
  const scope = other(entry);
  const [reason, setReason] = useState('');
  const set = async () => {
    await trying(
      async () => (await answer(api.PUT('/quarantine', { body: { type, slug, version, scope, reason } }))).message,
    );
    close();
    refresh('updates:', 'site:');
  };
  return (
    <Dialog
      title={`${name} ${version}`}
      onClose={close}
      confirm={
        <Button kind="main" disabled={reason.trim() === ''} onClick={set}>
          {t.quarantine.set[scope]}
        </Button>
      }
    >
      <p>{t.quarantine.setText}</p>
      <TextField label={t.quarantine.reason} value={reason} onInput={setReason} />
    </Dialog>
  );
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
      title={t.quarantine.liftTitle(name, version)}
      onClose={close}
      confirm={
        <Button kind="danger" onClick={lift}>
          {t.quarantine.lift}
        </Button>
      }
    >
      <p>{t.quarantine.liftText}</p>
    </Dialog>
  );
}
