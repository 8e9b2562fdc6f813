/** Access to Sitefleet: users, and programs by their keys. */

import { Page } from '../parts/page.js';
import { t } from '../texts/texts.js';
import { Keys } from './keys.js';
import { Users } from './users.js';

export function Access() {
  return (
    <Page title={t.nav.access} about={t.access.about}>
      <Users />
      <Keys />
    </Page>
  );
}
