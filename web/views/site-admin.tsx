/**
 * Opens wp-admin: through the guard of the site in one click; without a guard by the site's login page, with a note
 * about it.
 */

import { ExternalLink } from 'lucide';
import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../api/client.js';
import { Button, LinkButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { wordsOf } from '../parts/states.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './site.js';

export function OpenAdmin({ site }: { site: SiteRecord }) {
  const [refused, setRefused] = useState<ApiError | null>(null);
  const loginPage = t.safeUrl(`${site.url.replace(/\/?$/, '/')}wp-login.php`);
  const open = async () => {
    // Opened before the answer arrives: popup blockers block a window that opens later.
    const tab = window.open('', '_blank');
    try {
      const { data } = await answer(
        api.POST('/sites/{id_or_domain}/admin-login', {
          params: { path: { id_or_domain: String(site.id) } },
          body: {},
        }),
      );
      const url = t.safeUrl(data.url);
      if (tab === null || url === null) return;
      tab.opener = null;
      tab.location.replace(url);
    } catch (error) {
      tab?.close();
      if (!(error instanceof ApiError)) throw error;
      setRefused(error);
    }
  };
  return (
    <>
      <Button icon={ExternalLink} onClick={open}>
        {t.site.openAdmin}
      </Button>
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
