/** The shell around every view: navigation, the logged-in user, running jobs, and whether the service answers. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLive } from '../api/live.js';
import { refresh, useLoad } from '../api/load.js';
import { reachable } from '../api/reachable.js';
import { logOut, session, useMayApprove } from '../api/session.js';
import { useStore } from '../api/store.js';
import { t } from '../texts/texts.js';
import type { Goal } from './goals.js';
import { Icon } from './icon.js';
import type { IconNode } from './icons.js';
import {
  Activity,
  Building2,
  ClipboardCheck,
  DatabaseBackup,
  FileText,
  Gauge,
  Globe,
  History,
  KeyRound,
  ListChecks,
  LoaderCircle,
  LogOut,
  Menu,
  Moon,
  PackageCheck,
  Search,
  Settings2,
  Sun,
  WifiOff,
} from './icons.js';
import { NoPassword, OwnPassword } from './own-password.js';
import { Keys, openSearch } from './palette.js';

export const VIEWS: readonly (readonly [string, keyof typeof t.nav, IconNode])[] = [
  ['/', 'now', Gauge],
  ['/sites', 'sites', Globe],
  ['/updates', 'updates', PackageCheck],
  ['/monitors', 'monitors', Activity],
  ['/backups', 'backups', DatabaseBackup],
  ['/jobs', 'jobs', ListChecks],
  ['/approvals', 'approvals', ClipboardCheck],
  ['/history', 'history', History],
  ['/clients', 'clients', Building2],
  ['/reports', 'reports', FileText],
  ['/access', 'access', KeyRound],
  ['/settings', 'settings', Settings2],
];
/** The views shown in the bar on a phone, within reach of a thumb; the others are behind More. */
const FIRST = 4;

interface ShellProps {
  /** What the search of the keyboard finds besides sites. */
  goals: () => readonly Goal[];
  children: ComponentChildren;
}

export function Shell({ goals, children }: ShellProps) {
  const { path, url } = useLocation();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [url]);
  const link = ([to, word, icon]: (typeof VIEWS)[number]) => (
    <a key={to} href={to} aria-current={isAt(path, to) ? 'page' : undefined}>
      <Icon of={icon} />
      <span>{t.nav[word]}</span>
    </a>
  );
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {t.skip}
      </a>
      <aside class={open ? 'open' : ''}>
        <a class="brand" href="/">
          <Mark />
          {t.product}
        </a>
        <button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick={openSearch}>
          <Icon of={Search} />
          <span>{t.keys.search}</span>
          <kbd>{t.keys.short}</kbd>
        </button>
        <nav aria-label={t.nav.label}>{VIEWS.map(link)}</nav>
        <Account />
      </aside>
      {open && <button type="button" class="veil" aria-label={t.close} onClick={() => setOpen(false)} />}
      <main id="main" tabIndex={-1}>
        <Offline />
        <NoPassword />
        <Keys goals={goals} />
        <Waiting />
        <Running />
        {children}
      </main>
      <nav class="tabs" aria-label={t.nav.short}>
        {VIEWS.slice(0, FIRST).map(link)}
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon of={Menu} />
          <span>{t.nav.more}</span>
        </button>
      </nav>
    </div>
  );
}

/** Views under another one, with an address of their own. */
const UNDER: Readonly<Record<string, readonly string[]>> = { '/updates': ['/rollouts', '/policies', '/runs'] };

function isAt(path: string, to: string): boolean {
  if (to === '/') return path === '/';
  return [to, ...(UNDER[to] ?? [])].some((one) => path === one || path.startsWith(`${one}/`));
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 11.500h18M7 16.500h12M7 21.500h7M19 21.500l2.400 2.400 4.600-5" />
    </svg>
  );
}

function Account() {
  const current = useStore(session);
  if (current?.authenticated !== true) return null;
  const { name, right } = current.user;
  return (
    <div class="account">
      <div>
        <strong>{name}</strong>
        <span class="muted">{right === 'read' ? t.account.read : t.account.write}</span>
      </div>
      <Theme />
      <OwnPassword />
      <button
        type="button"
        class="close"
        title={t.account.logOut}
        aria-label={t.account.logOut}
        onClick={() => void logOut()}
      >
        <Icon of={LogOut} />
      </button>
    </div>
  );
}

const isDark = () => document.documentElement.dataset.theme === 'dark';

function Theme() {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const watch = new MutationObserver(() => setDark(isDark()));
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => watch.disconnect();
  }, []);
  const toggle = () => {
    const chosen = dark ? 'light' : 'dark';
    document.documentElement.dataset.theme = chosen;
    try {
      localStorage.setItem('theme', chosen);
    } catch {
      // Storage is refused: the choice holds for this page.
    }
  };
  const label = dark ? t.account.light : t.account.dark;
  return (
    <button type="button" class="close" title={label} aria-label={label} onClick={toggle}>
      <Icon of={dark ? Sun : Moon} />
    </button>
  );
}

/** Shows a notice while the service does not answer; it disappears automatically. */
export function Offline({ whole = false }: { whole?: boolean }) {
  const answers = useStore(reachable);
  if (answers) return null;
  return (
    <div class={whole ? 'offline whole' : 'offline'} role="status">
      <Icon of={WifiOff} />
      <div>
        <strong>{t.offline.title}</strong>
        <p>{t.offline.text}</p>
      </div>
    </div>
  );
}

const LOOK_AGAIN_MS = 30_000;

/** Changes that wait for this person, on every view except their own. */
function Waiting() {
  const { path } = useLocation();
  const may = useMayApprove();
  const { data } = useLoad(may ? 'approvals:waiting' : null, (signal) =>
    answer(api.GET('/approvals', { params: { query: { state: ['waiting'], per_page: 1 } }, signal })),
  );
  useEffect(() => {
    if (!may) return;
    const timer = setInterval(() => refresh('approvals:'), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [may]);
  if (data === undefined || data.total === 0 || path === '/approvals') return null;
  return (
    <a class="running" href="/approvals">
      <Icon of={ClipboardCheck} />
      {t.approvals.waiting(data.total)}
    </a>
  );
}

/** Running jobs, on every view except their own. */
function Running() {
  const { path } = useLocation();
  const { data } = useLoad('running', (signal) =>
    answer(api.GET('/jobs', { params: { query: { open: true, per_page: 5 } }, signal })),
  );
  const [live, setLive] = useState<ReadonlyMap<string, { done: number; failed: number; total: number; open: boolean }>>(
    new Map(),
  );
  useLive('job', ({ id, status, done, failed, total }) =>
    setLive((before) =>
      new Map(before).set(id, { done, failed, total, open: status === 'queued' || status === 'processing' }),
    ),
  );
  // The list is newer than earlier events: a missed event would keep a job running forever.
  useEffect(() => {
    if (data !== undefined) setLive(new Map());
  }, [data]);
  const jobs = new Map(
    (data?.data ?? []).map((job) => [
      job.job_id,
      { done: job.processed, failed: job.failed, total: job.total, open: true },
    ]),
  );
  for (const [id, job] of live) jobs.set(id, job);
  const open = [...jobs.values()].filter((job) => job.open);
  if (open.length === 0 || path === '/jobs' || path === '/') return null;
  const done = open.reduce((sum, job) => sum + job.done, 0);
  const total = open.reduce((sum, job) => sum + job.total, 0);
  return (
    <a class="running" href="/jobs">
      <Icon of={LoaderCircle} class="turning" />
      {t.jobs.running(open.length, done, total)}
    </a>
  );
}
