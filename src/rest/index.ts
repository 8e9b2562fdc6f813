/** All REST rows. To add a table: import it and list it here, where the routes document has it. */

import { audits, auditsBeyond } from './audits.js';
import { clients } from './clients.js';
import { comments } from './comments.js';
import { costs } from './costs.js';
import { domains, domainsBeyond } from './domains.js';
import { updatesBeyond } from './ignored-updates.js';
import { jobs } from './jobs.js';
import { keys } from './keys.js';
import { alertsBeyond, monitors } from './monitors.js';
import { posts } from './posts.js';
import { reports, reportsBeyond } from './reports.js';
import type { Route } from './route.js';
import { settings } from './settings.js';
import { site } from './site.js';
import { sites } from './sites.js';
import { ssl } from './ssl.js';
import { tags } from './tags.js';
import { time } from './time.js';
import { timeBeyond } from './time-beyond.js';
import { updates } from './updates.js';

/** The routes document, in its order. */
export const documented: readonly Route[] = [
  ...keys,
  ...sites,
  ...site,
  ...comments,
  ...ssl,
  ...domains,
  ...audits,
  ...reports,
  ...time,
  ...settings,
  ...monitors,
  ...posts,
  ...updates,
];

/** What a whole product needs besides. */
export const beyond: readonly Route[] = [
  ...jobs,
  ...clients,
  ...tags,
  ...costs,
  ...updatesBeyond,
  ...auditsBeyond,
  ...reportsBeyond,
  ...timeBeyond,
  ...domainsBeyond,
  ...alertsBeyond,
];

export const routes: readonly Route[] = [...documented, ...beyond];
