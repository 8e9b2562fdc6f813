/** Bulk actions on the chosen sites. Changes to sites are previewed before they are made. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import {
  CirclePause,
  CirclePlay,
  GitCompare,
  PackageCheck,
  RefreshCw,
  ShieldCheck,
  Stethoscope,
  Tags,
} from '../parts/icons.js';
import { TagChecks } from '../parts/owners.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { compareAddress, MOST_COMPARED } from './compare.js';
import { InstallGuards } from './guard-all.js';
import type { Asked } from './sites.js';
import { sent } from './sites.js';
import { startRun } from './starting-run.js';

interface Props {
  chosen: ReadonlySet<number>;
  /** All matching sites, beyond this page. */
  all: { asked: Asked; total: number } | null;
  matching: number;
  chooseAll: () => void;
  clear: () => void;
}

interface Done {
  message: string;
  job_id?: string | undefined;
}

/** Ids of all matching sites. */
async function idsOf(asked: Asked): Promise<number[]> {
  const ids: number[] = [];
  for (let page = 1; ; page++) {
    const query = { ...sent(asked), columns: ['id' as const], page, per_page: 500 };
    const { rows, total } = await answer(api.GET('/fleet/sites', { params: { query } }));
    ids.push(...rows.map(([id]) => Number(id)));
    if (rows.length === 0 || ids.length >= total) return ids;
  }
}

export function ActionBar({ chosen, all, matching, chooseAll, clear }: Props) {
  const { route, url } = useLocation();
  const [asking, setAsking] = useState<'suspend' | 'update' | 'tag' | 'guard' | null>(null);
  const count = all === null ? chosen.size : all.total;
  if (count === 0) return null;
  const ids = () => (all === null ? Promise.resolve([...chosen]) : idsOf(all.asked));

  const run = (work: (include: number[]) => Promise<Done>) =>
    trying(async () => {
      const { message, job_id } = await work(await ids());
      clear();
      refresh('sites:', 'running', 'now:');
      if (job_id === undefined) return message;
      showToast(message);
      route(`/jobs?id=${encodeURIComponent(job_id)}`);
      return null;
    });
  const act = (path: '/sites/sync' | '/sites/check' | '/sites/unsuspend' | '/sites/suspend') =>
    run((include) => {
      const body = { body: { include } };
      switch (path) {
        case '/sites/sync':
          return answer(api.POST('/sites/sync', body));
        case '/sites/check':
          return answer(api.POST('/sites/check', body));
        case '/sites/suspend':
          return answer(api.POST('/sites/suspend', body));
        case '/sites/unsuspend':
          return answer(api.POST('/sites/unsuspend', body));
      }
    });

  return (
    <div class="chosen" role="toolbar" aria-label={t.sites.actions}>
      <strong>{t.sites.chosen(number(count))}</strong>
      {all === null && chosen.size < matching && (
        <Button small kind="quiet" onClick={chooseAll}>
          {t.sites.allMatching(number(matching))}
        </Button>
      )}
      <Button small kind="quiet" onClick={clear}>
        {t.sites.none}
      </Button>
      <span class="gap" />
      <Button small icon={RefreshCw} onClick={() => act('/sites/sync')}>
        {t.sites.sync}
      </Button>
      <Button small icon={Stethoscope} onClick={() => act('/sites/check')}>
        {t.sites.check}
      </Button>
      <Button small icon={PackageCheck} onClick={() => setAsking('update')}>
        {t.sites.update}
      </Button>
      <Button small icon={ShieldCheck} onClick={() => setAsking('guard')}>
        {t.guard.install}
      </Button>
      <Button small icon={Tags} onClick={() => setAsking('tag')}>
        {t.sites.tagIt}
      </Button>
      {all === null && chosen.size > 1 && chosen.size <= MOST_COMPARED && (
        <Button small icon={GitCompare} onClick={() => route(compareAddress([...chosen]))}>
          {t.compare.button}
        </Button>
      )}
      <Button small icon={CirclePause} onClick={() => setAsking('suspend')}>
        {t.sites.suspend}
      </Button>
      <Button small icon={CirclePlay} onClick={() => act('/sites/unsuspend')}>
        {t.sites.unsuspend}
      </Button>
      {asking === 'suspend' && (
        <Confirm
          title={t.sites.suspendTitle(count)}
          text={t.sites.suspendText}
          word={t.sites.suspend}
          icon={CirclePause}
          onConfirm={() => act('/sites/suspend')}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'update' && (
        <UpdatePreview
          ids={ids}
          close={() => setAsking(null)}
          go={(include) =>
            startRun((run_id) => answer(api.POST('/updates/update', { body: { include, run_id } })), {
              route,
              back: url,
            })
          }
        />
      )}
      {asking === 'guard' && <InstallGuards ids={ids} close={() => setAsking(null)} />}
      {asking === 'tag' && <TagDialog ids={ids} close={() => setAsking(null)} done={clear} />}
    </div>
  );
}

const LISTED = 60;

/** Which updates would be installed where, from the last known state of the sites. Changes nothing. */
function UpdatePreview({
  ids,
  close,
  go,
}: {
  ids: () => Promise<number[]>;
  close: () => void;
  go: (include: number[]) => void;
}) {
  const preview = useLoad('preview:updates', async (signal) => {
    const include = await ids();
    const found = await answer(api.POST('/updates/update', { body: { include, dry_run: true }, signal }));
    return {
      include,
      sites: found.would_affect?.sites ?? 0,
      total: found.would_affect?.total ?? 0,
      updates: found.would_update ?? [],
    };
  });
  const total = preview.data?.total ?? 0;
  return (
    <Dialog
      wide
      title={t.sites.previewTitle}
      onClose={close}
      confirm={
        <Button kind="main" icon={PackageCheck} disabled={total === 0} onClick={() => go(preview.data?.include ?? [])}>
          {t.sites.updateCount(number(total))}
        </Button>
      }
    >
      <Loaded of={preview}>
        {({ updates, sites }) => (
          <>
            <p>{total === 0 ? t.sites.nothingOffered : t.sites.preview(number(total), number(sites))}</p>
            <ul class="lines">
              {updates
                .slice(0, LISTED)
                .map(({ site_id, site_name, type, slug, name, current_version, new_version }) => (
                  <li key={`${site_id} ${type} ${slug}`}>
                    <strong>{site_name}</strong>: {t.now.change(name, current_version, new_version)}
                  </li>
                ))}
            </ul>
            {total > LISTED && <p class="muted">{t.now.more(number(total - Math.min(LISTED, updates.length)))}</p>}
            {total > 0 && <p class="note">{t.sites.guardNote}</p>}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

/** Adds and removes tags; tags that are not touched stay as they are on each site. */
function TagDialog({ ids, close, done }: { ids: () => Promise<number[]>; close: () => void; done: () => void }) {
  const [add, setAdd] = useState<ReadonlySet<number>>(new Set());
  const save = async () => {
    const worked = await trying(async () => {
      const include = await ids();
      for (const tag of add) await addTag(tag, include);
      return t.sites.tagged(include.length);
    });
    if (!worked) return;
    close();
    done();
    refresh('sites:');
  };
  return (
    <Dialog
      title={t.sites.tagTitle}
      onClose={close}
      confirm={
        <Button kind="main" disabled={add.size === 0} onClick={save}>
          {t.sites.tagIt}
        </Button>
      }
    >
      <TagChecks chosen={add} onChange={setAdd} />
    </Dialog>
  );
}

/** Sites per call. */
const AT_ONCE = 100;

async function addTag(tag: number, include: readonly number[]): Promise<void> {
  for (let from = 0; from < include.length; from += AT_ONCE) {
    const some = include.slice(from, from + AT_ONCE);
    const query = { include: [...some], per_page: AT_ONCE, _fields: ['id', 'tag_list'] };
    const { data } = await answer(api.GET('/sites', { params: { query } }));
    const update = data.map(({ id, tag_list = [] }) => ({
      id,
      groupids: [...new Set([...tag_list.map((one) => one.id), tag])],
    }));
    await answer(api.POST('/sites/batch', { body: { update } }));
  }
}
