/** The backups of a site: what each has and what changed in it, making one, verifying one. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Badge, type Tone } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import {
  CheckCircle2,
  CircleDashed,
  DatabaseBackup,
  type IconNode,
  LoaderCircle,
  OctagonX,
  ShieldCheck,
} from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { bytes, moment, number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { RestoreBackup } from './restore-backup.js';
import type { SiteRecord } from './site.js';

const PER_PAGE = 20;

function useBackups(site: number, page: number) {
  return useLoad(
    `site:${site}:backups:${page}`,
    (signal) =>
      answer(api.GET('/backups', { params: { query: { site: String(site), page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
}

export type Backup = NonNullable<ReturnType<typeof useBackups>['data']>['data'][number];

export function useBackup(id: string) {
  return useLoad(`backup:${id}`, (signal) =>
    answer(api.GET('/backups/{backup_id}', { params: { path: { backup_id: id } }, signal })).then(({ data }) => data),
  );
}

export function Backups({ site }: { site: SiteRecord }) {
  const write = useMayWrite();
  const [query, change] = useQuery();
  const page = pageOf(query);
  const backups = useBackups(site.id, page);
  const [open, setOpen] = useState<{ what: 'changes' | 'restore'; of: Backup } | null>(null);
  const done = () => refresh(`site:${site.id}:`);
  const backUp = () =>
    trying(async () => {
      const at = { params: { path: { id_or_domain: String(site.id) } } };
      return (await answer(api.POST('/sites/{id_or_domain}/backups', at))).message;
    }).then(done);
  return (
    <Card
      title={t.backups.title}
      actions={
        write && (
          <Button small kind="main" icon={DatabaseBackup} onClick={backUp}>
            {t.backups.make}
          </Button>
        )
      }
    >
      <Loaded of={backups} rows={4}>
        {({ data, total, drills }) =>
          total === 0 ? (
            <Empty icon={DatabaseBackup} title={t.backups.none}>
              <p>{t.backups.noneText}</p>
            </Empty>
          ) : (
            <>
              <Table heads={[t.backups.made, t.backups.state, t.backups.contents, t.backups.added, null]}>
                {data.map((backup) => (
                  <Line key={backup.backup_id} {...{ backup, drills, write }} changed={done} open={setOpen} />
                ))}
              </Table>
              <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            </>
          )
        }
      </Loaded>
      {open?.what === 'changes' && <Changes backup={open.of} close={() => setOpen(null)} />}
      {open?.what === 'restore' && <RestoreBackup backup={open.of} close={() => setOpen(null)} done={done} />}
    </Card>
  );
}

const STATES: Record<Backup['state'], [Tone, IconNode]> = {
  done: ['good', CheckCircle2],
  running: ['busy', LoaderCircle],
  interrupted: ['warn', CircleDashed],
  failed: ['bad', OctagonX],
};

interface LineProps {
  backup: Backup;
  write: boolean;
  /** Backups are restored on trial here. */
  drills: boolean;
  changed: () => void;
  open: (dialog: { what: 'changes' | 'restore'; of: Backup }) => void;
}

function Line({ backup, write, drills, changed, open }: LineProps) {
  const { backup_id, state, sound, drill } = backup;
  const [tone, icon] = STATES[state];
  const verify = () =>
    trying(async () => {
      const at = { params: { path: { backup_id } } };
      return (await answer(api.POST('/backups/{backup_id}/verify', at))).message ?? null;
    }).then(changed);
  const prove = () =>
    trying(async () => {
      const at = { params: { path: { backup_id } } };
      return (await answer(api.POST('/backups/{backup_id}/drill', at))).message ?? null;
    }).then(changed);
  return (
    <tr>
      <th scope="row">
        {moment(backup.started_at)}
        <div class="small muted">
          <Time iso={backup.started_at} />
        </div>
      </th>
      <td data-label={t.backups.state}>
        <div>
          <div class="row">
            <Badge tone={tone} icon={icon}>
              {t.backups.states[state]}
            </Badge>
            {sound !== null && (
              <Badge tone={sound ? 'good' : 'bad'} icon={sound ? ShieldCheck : OctagonX}>
                {sound ? t.backups.sound : t.backups.damaged}
              </Badge>
            )}
          </div>
          {drill !== null && <Trial drill={drill} />}
          {backup.error !== undefined && <div class="small muted">{backup.error}</div>}
        </div>
      </td>
      <td data-label={t.backups.contents}>
        {backup.files === undefined || backup.rows === undefined ? (
          '–'
        ) : (
          <div>
            {t.backups.holds(number(backup.files), bytes(backup.file_bytes ?? 0), number(backup.rows))}
            {backup.consistency !== undefined && (
              <div class="small muted">{t.backups.consistency[backup.consistency]}</div>
            )}
          </div>
        )}
      </td>
      <td data-label={t.backups.added}>{backup.added_bytes === undefined ? '–' : bytes(backup.added_bytes)}</td>
      <td>
        {state === 'done' && (
          <div class="row">
            <Button small onClick={() => open({ what: 'changes', of: backup })}>
              {t.backups.changes}
            </Button>
            {write && (
              <>
                <Button small onClick={verify}>
                  {t.backups.verify}
                </Button>
                {drills && (
                  <Button small onClick={prove}>
                    {t.backups.prove}
                  </Button>
                )}
                <Button small onClick={() => open({ what: 'restore', of: backup })}>
                  {t.backups.restore}
                </Button>
                <a class="button small plain" href={`/v2/backups/${backup_id}/archive`} download>
                  {t.backups.download}
                </a>
              </>
            )}
          </div>
        )}
      </td>
    </tr>
  );
}

const RESULTS: Record<NonNullable<Backup['drill']>['result'], [Tone, IconNode]> = {
  proven: ['good', ShieldCheck],
  failed: ['bad', OctagonX],
  could_not_verify: ['warn', CircleDashed],
};

/** The last trial restore: what it showed, and how long a real one would take. */
export function Trial({ drill: { result, reason, means, restore_seconds, drilled_at } }: { drill: TrialFacts }) {
  const [tone, icon] = RESULTS[result];
  return (
    <div class="small">
      <Badge tone={tone} icon={icon}>
        {t.backups.results[result]}
      </Badge>{' '}
      <span class="muted">
        {t.backups.trial} <Time iso={drilled_at} />
        {restore_seconds != null && `, ${t.backups.took(restore_seconds)}`}
      </span>
      {means === 'playground' && <div class="muted">{t.backups.inPlayground}</div>}
      {reason !== null && <div class="muted">{reason}</div>}
    </div>
  );
}

type TrialFacts = Pick<NonNullable<Backup['drill']>, 'result' | 'reason' | 'means' | 'drilled_at'> &
  Partial<Pick<NonNullable<Backup['drill']>, 'restore_seconds'>>;

const SHOWN = 12;

function Changes({ backup, close }: { backup: Backup; close: () => void }) {
  const detail = useBackup(backup.backup_id);
  return (
    <Dialog title={t.backups.changesTitle} onClose={close}>
      <Loaded of={detail}>
        {({ changes, left_out = [], changed_while_read = [] }) => (
          <>
            {changes == null ? (
              <p>{t.backups.first}</p>
            ) : (
              <>
                <p>
                  {t.backups.since} <Time iso={changes.since} />:{' '}
                  {t.backups.files(changes.files_added, changes.files_changed, changes.files_removed)},{' '}
                  {t.backups.tables(changes.tables_changed)}
                </p>
                <ul>
                  {changes.folders.slice(0, SHOWN).map(({ path, added, changed, removed }) => (
                    <li key={path}>
                      <code>{path}</code> <span class="muted">{t.backups.counts(added, changed, removed)}</span>
                    </li>
                  ))}
                  {changes.tables.slice(0, SHOWN).map(({ name, rows_before, rows }) => (
                    <li key={name}>
                      <code>{name}</code> <span class="muted">{t.backups.rows(rows_before, rows)}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
            {changed_while_read.length > 0 && (
              <Paths title={t.backups.changedWhileRead} paths={changed_while_read.map((path) => [path, ''])} />
            )}
            {left_out.length > 0 && (
              <Paths title={t.backups.leftOut} paths={left_out.map(({ path, why }) => [path, why])} />
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function Paths({ title, paths }: { title: string; paths: readonly (readonly [path: string, why: string])[] }) {
  return (
    <details>
      <summary>{title}</summary>
      <ul>
        {paths.slice(0, SHOWN).map(([path, why]) => (
          <li key={path}>
            <code>{path}</code> <span class="muted">{why}</span>
          </li>
        ))}
      </ul>
      {paths.length > SHOWN && <p class="muted small">{t.now.more(number(paths.length - SHOWN))}</p>}
    </details>
  );
}
