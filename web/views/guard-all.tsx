/** The guard on many sites: how many have none, and installing it on them one after the other. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check } from '../parts/field.js';
import { ShieldCheck } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Progress } from '../parts/progress.js';
import { wordsOf } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';

/** Sites at a time. */
const AT_ONCE = 3;
/** Failures that are listed. */
const LISTED = 20;
const PER_PAGE = 500;

async function connected(guarded?: boolean): Promise<{ ids: number[]; total: number }> {
  const ids: number[] = [];
  for (let page = 1; ; page++) {
    const query = {
      status: 'connected' as const,
      columns: ['id' as const],
      page,
      per_page: PER_PAGE,
      ...(guarded === undefined ? {} : { guarded }),
    };
    const { rows, total } = await answer(api.GET('/fleet/sites', { params: { query } }));
    ids.push(...rows.map(([id]) => Number(id)));
    if (rows.length === 0 || ids.length >= total) return { ids, total };
  }
}

/** Ids of the connected sites that are not known to have a guard: without one, or never asked. */
async function unguarded(): Promise<number[]> {
  const [all, guarded] = await Promise.all([connected(), connected(true)]);
  const have = new Set(guarded.ids);
  return all.ids.filter((id) => !have.has(id));
}

/** How many sites are not protected; nothing where all are. */
export function Unguarded() {
  const write = useMayWrite();
  const [asking, setAsking] = useState(false);
  const counts = useLoad('now:guards', async (signal) => {
    const query = { status: 'connected' as const, columns: ['id' as const], per_page: 1 };
    const count = (more: object) =>
      answer(api.GET('/fleet/sites', { params: { query: { ...query, ...more } }, signal }));
    const [all, guarded] = await Promise.all([count({}), count({ guarded: true })]);
    return { all: all.total, missing: all.total - guarded.total };
  });
  const { all = 0, missing = 0 } = counts.data ?? {};
  if (missing === 0 && !asking) return null;
  return (
    <Card title={t.guard.title}>
      <p>{t.guard.missing(number(missing), number(all))}</p>
      {write && (
        <div class="row">
          <Button small icon={ShieldCheck} label={t.guard.installOn(number(missing))} onClick={() => setAsking(true)}>
            {t.guard.installOn(number(missing))}
          </Button>
        </div>
      )}
      {asking && <InstallGuards ids={unguarded} close={() => setAsking(false)} />}
    </Card>
  );
}

interface State {
  done: number;
  failed: { id: number; why: string }[];
  total: number;
}

/** Installs the guard on these sites while it is open. */
export function InstallGuards({ ids, close }: { ids: () => Promise<number[]>; close: () => void }) {
  const [login, setLogin] = useState(true);
  const [state, setState] = useState<State | null>(null);
  const open = useRef(true);
  useEffect(
    () => () => {
      open.current = false;
    },
    [],
  );
  const install = async (id: number) => {
    let failed: State['failed'] = [];
    try {
      const params = { path: { id_or_domain: String(id) } };
      await answer(api.POST('/sites/{id_or_domain}/guard', { params, body: { allow_login: login } }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failed = [{ id, why: wordsOf(error) }];
    }
    if (open.current)
      setState((before) => before && { ...before, done: before.done + 1, failed: [...before.failed, ...failed] });
  };
  const start = async () => {
    const waiting = await ids();
    setState({ done: 0, failed: [], total: waiting.length });
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined && open.current; id = waiting.shift()) await install(id);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    refresh('now:', 'site:', 'sites:', 'updates:');
  };
  const ended = state !== null && state.done === state.total;
  return (
    <Dialog
      title={t.guard.install}
      onClose={close}
      {...(state === null
        ? {
            confirm: (
              <Button kind="main" icon={ShieldCheck} onClick={start}>
                {t.guard.install}
              </Button>
            ),
          }
        : { actions: <Button onClick={close}>{ended ? t.close : t.guard.stop}</Button> })}
    >
      {state === null ? (
        <>
          <p>{t.guard.installText}</p>
          <Check label={t.guard.allowLogin} checked={login} onChange={setLogin} />
        </>
      ) : (
        <>
          <p role="status">
            {ended ? t.guard.installed(state.total - state.failed.length, state.total) : t.guard.installing}
          </p>
          <Progress done={state.done} failed={state.failed.length} total={state.total} label={t.guard.install} />
          <ul class="lines">
            {state.failed.slice(0, LISTED).map(({ id, why }) => (
              <li key={id} class="problem">
                <a href={`/sites/${id}`}>{t.site.number(id)}</a>: {why}
              </li>
            ))}
          </ul>
          {state.failed.length > LISTED && <p class="muted">{t.now.more(number(state.failed.length - LISTED))}</p>}
        </>
      )}
    </Dialog>
  );
}
