/** The guard of a site, which protects its updates: its last known state, and installing, checking or removing it. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Protection } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check } from '../parts/field.js';
import { RotateCw, ShieldCheck, ShieldOff } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

const STORY = 10;

/** The last known state of the guard, and the newest protected updates. */
export function useStory(id: number) {
  return useLoad(`site:${id}:story`, (signal) =>
    answer(
      api.GET('/sites/{id_or_domain}/safe-updates', {
        params: { path: { id_or_domain: String(id) }, query: { per_page: STORY } },
        signal,
      }),
    ),
  );
}

export function protectionOf(installed: boolean | null): 'guard' | 'none' | 'unknown' {
  return installed === null ? 'unknown' : installed ? 'guard' : 'none';
}

export function GuardCard({ id }: { id: number }) {
  const story = useStory(id);
  const write = useMayWrite();
  const [asking, setAsking] = useState<'install' | 'remove' | null>(null);
  /** null = unchanged. */
  const [login, setLogin] = useState<boolean | null>(true);
  const at = { params: { path: { id_or_domain: String(id) } } };
  const run = (work: () => Promise<{ message?: string }>) =>
    trying(async () => (await work()).message ?? null).then(() => {
      setAsking(null);
      refresh(`site:${id}:`);
    });
  return (
    <Card title={t.guard.title}>
      <Loaded of={story}>
        {({ guard }) => (
          <>
            <p class="under">
              <Protection by={protectionOf(guard.installed)} />
              {guard.version !== null && <span class="muted">{guard.version}</span>}
              <span class="muted">
                <Time iso={guard.looked_at} otherwise={t.guard.neverChecked} />
              </span>
            </p>
            <p class="small">{guard.installed === true ? t.guard.on : t.guard.off}</p>
            {guard.problems.map((problem) => (
              <p key={problem} class="problem">
                {problem}
              </p>
            ))}
            {write && (
              <div class="row">
                {guard.installed === true ? (
                  <>
                    <Button
                      small
                      icon={RotateCw}
                      onClick={() => run(() => answer(api.GET('/sites/{id_or_domain}/guard', at)))}
                    >
                      {t.guard.ask}
                    </Button>
                    <Button
                      small
                      icon={ShieldCheck}
                      onClick={() => {
                        setLogin(guard.login_allowed);
                        setAsking('install');
                      }}
                    >
                      {t.guard.renew}
                    </Button>
                    <Button small kind="danger" icon={ShieldOff} onClick={() => setAsking('remove')}>
                      {t.guard.remove}
                    </Button>
                  </>
                ) : (
                  <Button
                    small
                    kind="main"
                    icon={ShieldCheck}
                    onClick={() => {
                      setLogin(true);
                      setAsking('install');
                    }}
                  >
                    {t.guard.install}
                  </Button>
                )}
              </div>
            )}
          </>
        )}
      </Loaded>
      {asking === 'install' && (
        <Dialog
          title={t.guard.install}
          onClose={() => setAsking(null)}
          confirm={
            <Button
              kind="main"
              onClick={() =>
                run(() =>
                  answer(
                    api.POST('/sites/{id_or_domain}/guard', {
                      ...at,
                      body: login === null ? {} : { allow_login: login },
                    }),
                  ),
                )
              }
            >
              {t.guard.install}
            </Button>
          }
        >
          <p>{t.guard.installText}</p>
          <Check label={t.guard.allowLogin} checked={login === true} onChange={setLogin} />
        </Dialog>
      )}
      {asking === 'remove' && (
        <Dialog
          title={t.guard.remove}
          onClose={() => setAsking(null)}
          confirm={
            <Button kind="danger" onClick={() => run(() => answer(api.DELETE('/sites/{id_or_domain}/guard', at)))}>
              {t.guard.remove}
            </Button>
          }
        >
          <p>{t.guard.removeText}</p>
        </Dialog>
      )}
    </Card>
  );
}
