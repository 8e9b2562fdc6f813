/** One site: its state and the reason, its contents, its history, and the available actions. */

import { useLocation, useRoute } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLive } from '../api/live.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { SiteStatus } from '../parts/badge.js';
import { Button, LinkButton } from '../parts/button.js';
import {
  CirclePause,
  CirclePlay,
  ExternalLink,
  GitCompare,
  Globe,
  RefreshCw,
  RotateCw,
  Stethoscope,
} from '../parts/icons.js';
import { Page } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Subtabs } from '../parts/subtabs.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { compareAddress } from './compare.js';
import { type Matter, SiteMatters } from './matters.js';
import { Activity } from './site-activity.js';
import { OpenAdmin } from './site-admin.js';
import { Backups } from './site-backups.js';
import { Inventory } from './site-inventory.js';
import { Overview, useMonitor } from './site-overview.js';
import { Security } from './site-security.js';
import { SiteUpdates } from './site-updates.js';
import { Uptime } from './site-uptime.js';

const TABS = ['overview', 'updates', 'inventory', 'uptime', 'security', 'backups', 'activity'] as const;
type Tab = (typeof TABS)[number];

/** The site's record, shared by its views; the keys of all of them begin the same way. */
export function useSite(id: string) {
  return useLoad(`site:${id}:record`, (signal) =>
    answer(
      api.GET('/sites/{id_or_domain}', { params: { path: { id_or_domain: id }, query: { _fields: FIELDS } }, signal }),
    ).then(({ data }) => data),
  );
}
/** Without the inventory, which has its own view. */
const FIELDS = [
  'id',
  'name',
  'url',
  'status',
  'status_reason',
  'status_since',
  'client_id',
  'client_name',
  'admin_username',
  'note',
  'ip',
  'wp_version',
  'php_version',
  'child_version',
  'mysql_version',
  'memory_limit',
  'database_size',
  'language',
  'timezone',
  'active_theme',
  'last_check',
  'health_status',
  'health_score',
  'sync_errors',
  'last_sync',
  'last_backup',
  'last_post_time',
  'tag_list',
  'tags',
  'suspended',
  'automatic_update',
];
/** What is wrong with the site now. */
export function useTroubles(id: string) {
  return useLoad(`site:${id}:troubles`, (signal) =>
    answer(api.GET('/sites/{id_or_domain}/attention', { params: { path: { id_or_domain: id } }, signal })).then(
      ({ data }) => data,
    ),
  );
}

export type SiteRecord = NonNullable<ReturnType<typeof useSite>['data']>;

export function Site() {
  const { params, query } = useRoute();
  const id = params.id ?? '';
  const { path } = useLocation();
  const site = useSite(id);
  const troubles = useTroubles(id);
  // A lost connection is told with its reason below.
  const matters = (troubles.data?.matters ?? []).filter(({ matter }) => matter !== 'disconnected');
  useLive('site', (event) => {
    if (String(event.id) === id) refresh(`site:${id}:`);
  });
  const tab = TABS.find((one) => one === query.tab) ?? 'overview';
  if (site.error?.status === 404)
    return (
      <Page title={t.site.missing}>
        <Empty icon={Globe} title={t.site.missing}>
          <LinkButton href="/sites">{t.site.all}</LinkButton>
        </Empty>
      </Page>
    );
  return (
    <Page
      title={site.data?.name ?? t.loading}
      about={site.data && <Address site={site.data} down={matters.some(({ matter }) => DOWN.includes(matter))} />}
      actions={site.data && <Actions site={site.data} />}
    >
      {site.data && site.data.status !== 'connected' && (
        <div class="failed" role="status">
          <div>
            <p>
              <strong>{t.siteStatus[site.data.status]}</strong>, {t.now.since} <Time iso={site.data.status_since} />
            </p>
            <p>{site.data.status_reason ?? t.now.reasonUnknown}</p>
          </div>
        </div>
      )}
      <SiteMatters matters={matters} />
      <Subtabs
        label={t.site.parts}
        at={tab}
        tabs={TABS.map((key) => ({
          key,
          href: key === 'overview' ? path : `${path}?tab=${key}`,
          word: t.site.tab[key],
        }))}
      />
      <Loaded of={site} rows={6}>
        {(data) => <Part tab={tab} site={data} />}
      </Loaded>
    </Page>
  );
}

function Part({ tab, site }: { tab: Tab; site: SiteRecord }) {
  switch (tab) {
    case 'overview':
      return <Overview site={site} />;
    case 'updates':
      return <SiteUpdates site={site} />;
    case 'inventory':
      return <Inventory site={site} />;
    case 'uptime':
      return <Uptime site={site} />;
    case 'security':
      return <Security site={site} />;
    case 'backups':
      return <Backups site={site} />;
    case 'activity':
      return <Activity site={site} />;
  }
}

const DOWN: readonly Matter['matter'][] = ['down', 'down_after_update', 'unreachable'];

function Address({ site, down }: { site: SiteRecord; down: boolean }) {
  const href = t.safeUrl(site.url);
  const monitor = useMonitor(site.id);
  const pending = monitor.data?.active === 1 && monitor.data.last_status === 'pending';
  return (
    <span class="under">
      <SiteStatus
        state={site.status !== 'connected' ? site.status : down ? 'down' : pending ? 'pending' : 'connected'}
      />
      {href === null ? (
        <span>{site.url}</span>
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {t.address(site.url)}
        </a>
      )}
    </span>
  );
}

const at = (id: number) => ({ params: { path: { id_or_domain: String(id) } } });

function Actions({ site }: { site: SiteRecord }) {
  const write = useMayWrite();
  const done = (work: () => Promise<{ message: string }>) => async () => {
    const { message } = await work();
    refresh(`site:${site.id}:`, 'sites:', 'now:');
    return message;
  };
  const act = (work: () => Promise<{ message: string }>, undo?: () => Promise<{ message: string }>) => () =>
    trying(done(work), undo && done(undo));
  const suspend = () => answer(api.POST('/sites/{id_or_domain}/suspend', at(site.id)));
  const unsuspend = () => answer(api.POST('/sites/{id_or_domain}/unsuspend', at(site.id)));
  const compare = (
    <LinkButton href={compareAddress([site.id])} icon={GitCompare}>
      {t.compare.button}
    </LinkButton>
  );
  if (!write)
    return (
      <>
        {compare}
        <LinkButton href={t.safeUrl(site.url) ?? '#'} icon={ExternalLink} outside>
          {t.site.open}
        </LinkButton>
      </>
    );
  return (
    <>
      {compare}
      {site.status === 'suspended' ? (
        <Button icon={CirclePlay} onClick={act(unsuspend)}>
          {t.sites.unsuspend}
        </Button>
      ) : site.status === 'disconnected' ? (
        <Button
          kind="main"
          icon={RotateCw}
          onClick={act(() => answer(api.POST('/sites/{id_or_domain}/reconnect', at(site.id))))}
        >
          {t.now.reconnect}
        </Button>
      ) : (
        <>
          <Button icon={RefreshCw} onClick={act(() => answer(api.POST('/sites/{id_or_domain}/sync', at(site.id))))}>
            {t.sites.sync}
          </Button>
          <Button icon={Stethoscope} onClick={act(() => answer(api.POST('/sites/{id_or_domain}/check', at(site.id))))}>
            {t.sites.check}
          </Button>
          <Button icon={CirclePause} onClick={act(suspend, unsuspend)}>
            {t.sites.suspend}
          </Button>
        </>
      )}
      <OpenAdmin site={site} />
    </>
  );
}
