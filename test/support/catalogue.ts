/** The operations as the interface defines them (operations §8.0): the reference for the code. */

interface Fact {
  name: string;
  title: string;
  readonly: boolean;
  destructive: boolean;
  idempotent: boolean;
  methods: string[];
}

const GROUPS = {
  sites: `
list-sites|List sites|+-+|GET
get-site|Read one site|+-+|POST GET
sync-sites|Synchronise sites|--+|POST
add-site|Connect a new site|---|POST
update-site|Change site settings|--+|POST
delete-site|Remove a site record|-+-|POST
reconnect-site|Reconnect one site|--+|POST
disconnect-site|Disconnect one site|--+|POST
suspend-site|Suspend one site|--+|POST
unsuspend-site|Lift a site suspension|--+|POST
check-site|Check one site's reachability|--+|POST
get-site-plugins|List a site's plugins|+-+|POST GET
activate-site-plugins|Activate plugins|--+|POST
deactivate-site-plugins|Deactivate plugins|--+|POST
delete-site-plugins|Delete plugins|-+-|POST
get-site-themes|List a site's themes|+-+|POST GET
activate-site-theme|Switch the active theme|--+|POST
delete-site-themes|Delete themes|-+-|POST
get-abandoned-plugins|List abandoned plugins|+-+|GET
get-abandoned-themes|List abandoned themes|+-+|GET
get-site-security|Read a site's security findings|+-+|POST GET
get-site-changes|Read a site's change log|+-+|POST GET
get-site-client|Read a site's client|+-+|POST GET
get-site-costs|Read a site's costs|+-+|POST GET
count-sites|Count sites|+-+|GET
get-sites-basic|List all sites, minimal fields|+-+|GET
reconnect-sites|Reconnect several sites|--+|POST
disconnect-sites|Disconnect several sites|--+|POST
check-sites|Check several sites|--+|POST
suspend-sites|Suspend several sites|--+|POST`,
  updates: `
list-updates|List available updates|+-+|GET
run-updates|Apply selected updates|-+-|POST
list-ignored-updates|List ignored updates|+-+|GET
set-ignored-updates|Ignore or restore one update|--+|POST
get-site-updates|List one site's updates|+-+|POST GET
update-site-core|Update one site's core|-+-|POST
update-site-plugins|Update one site's plugins|-+-|POST
update-site-themes|Update one site's themes|-+-|POST
update-site-translations|Update one site's translations|-+-|POST
ignore-site-core|Ignore or restore core updates|--+|POST
ignore-site-plugins|Ignore or restore plugin updates|--+|POST
ignore-site-themes|Ignore or restore theme updates|--+|POST
update-all|Apply every available update|-+-|POST`,
  clients: `
list-clients|List clients|+-+|GET
count-clients|Count clients|+-+|GET
get-client|Read one client|+-+|POST GET
add-client|Create a client|---|POST
update-client|Change a client|--+|POST
delete-client|Delete a client|-+-|POST
get-client-sites|List a client's sites|+-+|POST GET
count-client-sites|Count a client's sites|+-+|POST GET
get-client-costs|Read a client's costs|+-+|POST GET
suspend-client|Suspend a client and its sites|--+|POST
unsuspend-client|Lift a client suspension|--+|POST`,
  tags: `
list-tags|List tags|+-+|GET
get-tag|Read one tag|+-+|POST GET
add-tag|Create a tag|---|POST
update-tag|Change a tag|--+|POST
delete-tag|Delete a tag|-++|POST DELETE
get-tag-sites|List a tag's sites|+-+|POST GET
get-tag-clients|List a tag's clients|+-+|POST GET`,
  batch: `
get-batch-job-status|Read a job's status|+-+|POST GET`,
} as const;

export const CATALOGUE: Readonly<Record<keyof typeof GROUPS, readonly Fact[]>> = {
  sites: facts(GROUPS.sites),
  updates: facts(GROUPS.updates),
  clients: facts(GROUPS.clients),
  tags: facts(GROUPS.tags),
  batch: facts(GROUPS.batch),
};

function facts(table: string): Fact[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', title = '', hints = '', methods = ''] = line.split('|');
      const [readonly, destructive, idempotent] = [...hints].map((hint) => hint === '+');
      return {
        name,
        title,
        readonly: readonly === true,
        destructive: destructive === true,
        idempotent: idempotent === true,
        methods: methods.split(' '),
      };
    });
}
