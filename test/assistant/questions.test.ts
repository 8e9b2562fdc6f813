/** What people ask for is found by `search-operations`: the right operation is among the first two. */

import { expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { SEARCH_OPERATIONS } from '../../src/surfaces/mcp/lean.js';
import { createToolRegistry } from '../../src/surfaces/mcp/registry.js';
import { operations } from '../../tools/index.js';
import { LOCAL } from '../support/mcp-clients.js';
import { silent } from '../support/surfaces.js';

/** The operation that is meant, and how people ask for it: not in the words of its description. */
const QUESTIONS = `
diagnose-site | why is a site down
list-costs | costs of all sites
search-changes | admin users changed
search-changes | who became administrator last week
search-changes | who deactivated that plugin
undo-change | undo what I just did
undo-change | revert the last change
roll-back | the update broke the shop, put the old version back
roll-back | go back to the previous version of a plugin
build-report | make the monthly report for a customer
compare-sites | what differs between staging and live
tag-sites | put a label on several sites
tag-sites | remove a tag from three sites
cancel-job | stop the running job
get-batch-job-status | how far is the sync
list-certificates | which SSL certificates expire soon
list-domains | when do our domains run out
list-incidents | was the site offline last night
list-monitors | uptime of the monitors
acknowledge-incident | I know about this outage, stop reminding
list-comments | what comments are waiting for moderation
moderate-comments | delete spam comments
moderate-comments | approve a comment
create-post | write a blog post
set-post-status | publish a draft
edit-post | change the text of a page
list-posts | which drafts are there
switch-plugin | turn off a plugin everywhere
switch-plugin | activate a plugin on all sites
delete-site-plugins | uninstall a plugin
delete-site-themes | get rid of an unused theme
activate-site-theme | change the theme of a site
update-all | update everything
update-site-core | upgrade WordPress itself on one site
run-updates | update one plugin on all sites
list-updates | what can be updated
ignore-update-everywhere | never update WooCommerce
ignore-update-everywhere | hide this update until next month
safe-update-site | update carefully and take it back if it breaks
plan-updates | roll out updates in waves
control-rollout | pause the rollout
list-vulnerabilities | known security holes
get-abandoned-plugins | plugins that are no longer maintained
add-site | connect a new website
reconnect-site | a site lost its connection
delete-site | remove a site from the dashboard
suspend-client | customer did not pay, freeze his sites
add-client | new customer
update-client | change the phone number of a client
list-time-clients | how many hours did we work for a client
add-time-task | log 90 minutes of work
set-timer | start a stopwatch
add-cost | add a licence we pay every year
list-quarantined-versions | which version was blocked because it broke a site
lift-quarantine | allow the blocked version again
sync-sites | fetch fresh data from the sites
check-site | is the homepage reachable
get-fleet-brief | what needs my attention today
list-approvals | what is waiting for approval
list-alerts | which mails did the alarm send
list-policies | what is updated automatically at night
retry-run | what failed in the last update run, try again
diagnose-site | the website shows a white page, what happened
search-changes | who installed plugins this week
search-changes | did somebody create a new admin account
undo-change | take back everything since noon
roll-back | restore the old plugin version on one site
build-report | summary for the customer for June
compare-sites | are these two sites configured the same
tag-sites | mark these sites as staging
cancel-job | abort the background task
get-batch-job-status | is the job finished
list-certificates | https certificate about to expire
list-domains | domain renewal dates
list-incidents | outages of the last days
acknowledge-incident | mark an outage as seen
list-comments | unapproved comments
moderate-comments | throw spam away
create-post | publish a news article
set-post-status | unpublish a page
edit-post | correct a typo in an article
switch-plugin | disable a plugin on every site
delete-site-plugins | delete plugins that are not used
update-all | install all updates now
run-updates | only security patches of one plugin
list-updates | which plugins are outdated
ignore-update-everywhere | skip an update for now
plan-updates | plan updates with a canary first
control-rollout | halt the staged update
list-vulnerabilities | CVEs in our plugins
get-abandoned-plugins | dead plugins without an author
add-site | add my shop to the dashboard
reconnect-sites | reconnect everything that is disconnected
suspend-site | pause a site that is being rebuilt
unsuspend-client | lift the suspension of a client
get-client | e-mail address of a customer
update-tag | rename a tag
list-time-buckets | hours left in the support package
add-time-task | book time for a customer
list-costs | what do we pay for plugins
update-cost | price of a subscription changed
list-site-snapshots | is there a copy to go back to
install-site-guard | protect a site against broken updates
sync-sites | refresh a site
check-site | does the site answer
get-fleet-brief | how are my sites
search-fleet | which sites run PHP 7
search-fleet | where is Elementor installed
count-sites | how many sites do we have
get-site-themes | which themes does a site have
list-approvals | requests that need my ok
list-alerts | did an alert go out
diagnose-site | my client's homepage gives a 502, why
search-changes | who touched the settings on bakery.example
search-changes | list new administrators
undo-change | I made a mistake, reverse it
roll-back | downgrade Elementor
build-report | pdf for the customer about last month
compare-sites | difference between two shops
tag-sites | give five sites the tag VIP
cancel-job | kill that job
get-batch-job-status | progress of the background work
list-certificates | tls certificates ending in two weeks
list-domains | which domains have to be renewed
list-incidents | downtime yesterday
acknowledge-incident | I am already working on this incident
list-comments | new comments on my blogs
moderate-comments | mark comments as spam
create-post | create a page about us
set-post-status | move a post to the trash
switch-plugin | switch off Jetpack on all client sites
delete-site-plugins | remove Hello Dolly
update-all | bring the whole fleet up to date
run-updates | update only Akismet
list-updates | pending updates
set-quarantine-scope | do not install this version anywhere
plan-updates | release updates step by step
list-vulnerabilities | which sites are vulnerable
get-abandoned-themes | abandoned themes
add-site | hook up another WordPress
reconnect-sites | sites that went offline from the dashboard, connect them again
suspend-site | temporarily exclude a site from updates
list-clients | customer list
get-client-sites | which sites belong to this customer
add-tag | create a label
list-time-buckets | remaining support hours
add-time-task | I worked 2 hours on backups
list-costs | yearly expenses per client
get-site-guard | is a site protected by the guard
sync-sites | reload the data of all sites
check-site | ping a site
get-fleet-brief | anything broken this morning
search-fleet | sites with WordPress older than 6.4
count-clients | how many customers are there
get-run | what did the last update run do
list-actions | show the audit log
activate-site-theme | turn on a theme
update-site-translations | upgrade the translations
preview-policy | what would be updated tonight
list-monitors | average uptime
update-client | change the address of a customer
delete-cost | clear a wrong cost entry
diagnose-site | my site is extremely slow today
search-changes | who logged in to the shop
undo-change | cancel my last action
roll-back | the new version is bad, use the one from before
build-report | report of May for Silva
compare-sites | how does site A differ from site B
tag-sites | untag several sites
get-batch-job-status | is it done yet
list-certificates | expired certificates
list-domains | domain expiry
list-incidents | how long was the shop down
moderate-comments | reply to nobody, just remove the comment
create-post | draft an article about opening hours
list-posts | what was published lately
switch-plugin | deactivate a plugin everywhere
delete-site-plugins | uninstall unused plugins on a site
update-all | apply all pending updates
run-updates | update WooCommerce on all shops except one
ignore-update-everywhere | freeze the version of a plugin
plan-updates | canary release
control-rollout | resume the paused rollout
list-vulnerabilities | critical CVE
get-abandoned-plugins | plugins nobody maintains
add-site | onboard a new site
reconnect-site | site is disconnected
list-clients | who are our clients
get-client | phone number of the customer
list-tags | how many labels are there
set-timer | stop the clock
list-costs | what does hosting cost us
list-quarantined-versions | which versions may not be installed
sync-sites | sync everything
check-site | is example.com up
get-fleet-brief | good morning, what is new
search-fleet | PHP versions in use
list-approvals | have I been asked to approve something
list-policies | what gets updated by itself
retry-run | retry the failed updates
get-site-plugins | list plugins of a site
list-site-snapshots | backup copies of plugins on a site
schedule-backups | back up all sites every night
schedule-backups | backup schedule
`
  .trim()
  .split('\n')
  .map((line) => line.split(' | ') as [string, string]);

const registry = createToolRegistry({
  operations,
  invoke: () => Promise.reject(new Error('nothing is run')),
  log: silent,
  clock: systemClock,
  readOnly: false,
  toolsets: TOOLSETS,
});
const caller = {
  actor: { ...LOCAL, tools: { toolsets: null, read_only: false, lean: true } },
  request_id: 'r',
  signal: new AbortController().signal,
};

async function found(query: string): Promise<string[]> {
  const result = await registry.callTool(SEARCH_OPERATIONS, { query, limit: 2 }, caller);
  const { operations } = (result as unknown as { structuredContent: { operations: { operation: string }[] } })
    .structuredContent;
  return operations.map(({ operation }) => operation.slice('svc-'.length, -'-v1'.length));
}

it('asks for operations that exist', () => {
  const names = operations.map(({ id }) => id.slice('svc/'.length, -'-v1'.length));
  expect(QUESTIONS.map(([name]) => name).filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(QUESTIONS.map(([, question]) => question)).size).toBe(QUESTIONS.length);
});

it('finds 95 of 100', async () => {
  const missed: string[] = [];
  for (const [name, question] of QUESTIONS) {
    const first = await found(question);
    if (!first.includes(name)) missed.push(`${question}: ${first.join(', ')} instead of ${name}`);
  }
  expect(missed.slice(Math.floor(QUESTIONS.length * 0.05))).toEqual([]);
});

it.each(['why is a site down', 'costs of all sites', 'admin users changed'])('finds at once: %s', async (question) => {
  expect((await found(question))[0]).toBe(QUESTIONS.find(([, asked]) => asked === question)?.[0]);
});
