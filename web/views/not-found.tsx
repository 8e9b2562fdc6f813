/** Shown at an address that has no view. */

import { LinkButton } from '../parts/button.js';
import { MapPinOff } from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { Empty } from '../parts/states.js';
import { t } from '../texts/texts.js';

export function NotFound() {
  return (
    <Page title={t.notFound.title}>
      <Empty icon={MapPinOff} title={t.notFound.text}>
        <LinkButton href="/" kind="main">
          {t.nav.now}
        </LinkButton>
      </Empty>
    </Page>
  );
}
