/**
 * Opens wp-admin: through the guard of the site in one click; without a guard by the site's login page, with a note
 * about it.
 */

import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { Button, LinkButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ExternalLink } from '../parts/icons.js';
import { wordsOf } from '../parts/states.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './site.js';
import { useStory } from './site-guard.js';

export function OpenAdmin({ site }: { site: SiteRecord }) {
  const [refused, setRefused] = useState<ApiError | null>(null);
  const [asking, setAsking] = useState(false);
  // As last seen; before that is loaded, and of a site never asked for its guard, the button is what it is where all is set up.
  const guard = useStory(site.id).data?.guard;
  const ready = guard?.login_allowed !== false && guard?.installed !== false;
  const loginPage = t.safeUrl(`${site.url.replace(/\/?$/, '/')}wp-login.php`);
  /** @param setUp consent to install the guard for it */
  const open = async (setUp: boolean) => {
    // Opened before the answer arrives: popup blockers block a window that opens later.
    const tab = window.open('', '_blank');
    try {
      const { data } = await answer(
        api.POST('/sites/{id_or_domain}/admin-login', {
          params: { path: { id_or_domain: String(site.id) } },
          body: { set_up: setUp },
        }),
      );
      const url = t.safeUrl(data.url);
      if (tab !== null && url !== null) {
        tab.opener = null;
        tab.location.replace(url);
      }
    } catch (error) {
      tab?.close();
      if (!(error instanceof ApiError)) throw error;
      // Nobody has looked for a guard yet: the refusal tells that there is none.
      if (!setUp && guard?.installed === null && error.code === 'svc_guard_refused') setAsking(true);
      else setRefused(error);
    }
    if (!setUp) return;
    setAsking(false);
    refresh(`site:${site.id}:`);
  };
  return (
    <>
      <Button icon={ExternalLink} onClick={() => (ready ? open(false) : setAsking(true))}>
        {ready ? t.site.openAdmin : t.site.setUpAdmin}
      </Button>
      {asking && (
        <Dialog
          title={t.site.setUpAdmin}
          onClose={() => setAsking(false)}
          confirm={
            <Button kind="main" icon={ExternalLink} onClick={() => open(true)}>
              {t.site.setUpAndOpen}
            </Button>
          }
        >
          <p>{t.site.setUpAdminText}</p>
        </Dialog>
      )}
      {refused !== null && (
        <Dialog
          title={t.site.noAdmin}
          onClose={() => setRefused(null)}
          actions={
            loginPage !== null && (
              <LinkButton kind="main" icon={ExternalLink} href={loginPage} outside>
                {t.site.loginPage}
              </LinkButton>
            )
          }
        >
          <p>{wordsOf(refused)}</p>
          {refused.advice !== null && <p class="muted">{refused.advice}</p>}
        </Dialog>
      )}
    </>
  );
}
