/** Restoring from a backup: what is chosen, then the plan, then the restore. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { SelectField, TextField } from '../parts/field.js';
import { History } from '../parts/icons.js';
import { Loaded } from '../parts/states.js';
import { bytes, moment, number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { type Backup, useBackup } from './site-backups.js';

const WHAT = ['site', 'plugin', 'table', 'files'] as const;

interface Selection {
  what: (typeof WHAT)[number];
  name?: string;
}

interface Props {
  backup: Backup;
  close: () => void;
  done: () => void;
}

const PLUGINS = 'wp-content/plugins/';

export function RestoreBackup({ backup, close, done }: Props) {
  const [what, setWhat] = useState<Selection['what']>('site');
  const [name, setName] = useState('');
  const [planned, setPlanned] = useState<Selection | null>(null);
  const detail = useBackup(backup.backup_id);
  if (planned !== null)
    return <Plan backup={backup} selection={planned} close={close} back={() => setPlanned(null)} done={done} />;
  const names: Record<'plugin' | 'table', string[]> = {
    plugin: (detail.data?.folders ?? [])
      .filter(({ path }) => path.startsWith(PLUGINS))
      .map(({ path }) => path.slice(PLUGINS.length))
      .sort(),
    table: (detail.data?.database ?? []).map((table) => table.name),
  };
  const choice = what === 'plugin' || what === 'table' ? names[what] : null;
  const chosen = choice === null ? name.trim() : choice.includes(name) ? name : (choice[0] ?? '');
  return (
    <Dialog
      title={t.backups.restoreTitle}
      onClose={close}
      confirm={
        <Button
          kind="main"
          disabled={what !== 'site' && chosen === ''}
          onClick={() => setPlanned(what === 'site' ? { what } : { what, name: chosen })}
        >
          {t.backups.showPlan}
        </Button>
      }
    >
      <p>
        {t.backups.of} {moment(backup.started_at)} (<Time iso={backup.started_at} />)
      </p>
      <SelectField
        label={t.backups.what}
        value={what}
        onChange={(next) => {
          setWhat(next as Selection['what']);
          setName('');
        }}
        options={WHAT.map((one) => [one, t.backups.whats[one]] as const)}
      />
      {choice !== null && (
        <Loaded of={detail}>
          {() => (
            <SelectField
              label={t.backups.whats[what]}
              value={chosen}
              onChange={setName}
              options={choice.map((one) => [one, one] as const)}
            />
          )}
        </Loaded>
      )}
      {what === 'files' && (
        <TextField label={t.backups.pattern} hint={t.backups.patternHint} value={name} onInput={setName} />
      )}
    </Dialog>
  );
}

function Plan({ backup, selection, close, back, done }: Props & { selection: Selection; back: () => void }) {
  const at = { params: { path: { backup_id: backup.backup_id } } };
  const plan = useLoad(`restore:${backup.backup_id}:${JSON.stringify(selection)}`, async (signal) => {
    const body = { ...selection, dry_run: true };
    return (await answer(api.POST('/backups/{backup_id}/restore', { ...at, body, signal }))).data;
  });
  const restore = async () => {
    await trying(async () => {
      const { message, data } = await answer(
        api.POST('/backups/{backup_id}/restore', { ...at, body: { ...selection, confirm: true } }),
      );
      return [message, ...data.findings].join(' ');
    });
    close();
    done();
  };
  return (
    <Dialog
      title={t.backups.planTitle}
      onClose={close}
      actions={
        <>
          <Button onClick={back}>{t.backups.back}</Button>
          {plan.data?.outcome === 'planned' && (
            <Button kind="danger" icon={History} onClick={restore}>
              {t.backups.restoreNow}
            </Button>
          )}
        </>
      }
    >
      <Loaded of={plan}>
        {(data) =>
          data.outcome === 'nothing_to_do' ? (
            <p>{t.backups.nothing}</p>
          ) : (
            <>
              <p>
                {t.backups.replaces} {moment(data.made_at)}:
              </p>
              <ul>
                <li>
                  {t.backups.whats.files}: {t.backups.counts(data.files_added, data.files_replaced, data.files_removed)}
                </li>
                {data.tables.length > 0 && <li>{t.backups.tables(data.tables.length)}</li>}
                {data.bytes > 0 && <li>{t.backups.sent(bytes(data.bytes))}</li>}
              </ul>
              {data.examples.length > 0 && (
                <details>
                  <summary>{t.backups.examples}</summary>
                  <ul>
                    {data.examples.map((path) => (
                      <li key={path}>
                        <code>{path}</code>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
              {data.kept_count > 0 && (
                <details>
                  <summary>{t.backups.kept(number(data.kept_count))}</summary>
                  <ul>
                    {data.kept.map((path) => (
                      <li key={path}>
                        <code>{path}</code>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
              {data.warnings.map((warning) => (
                <p key={warning} class="problem">
                  {warning}
                </p>
              ))}
              <p class="small muted">{t.backups.takenBack}</p>
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
}
