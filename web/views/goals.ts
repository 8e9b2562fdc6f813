/** What the search of the keyboard finds besides sites: views, lists, actions that the person may take, and settings. */

import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { logOut, useMayApprove, useMayWrite } from '../api/session.js';
import type { Goal } from '../parts/goals.js';
import { VIEWS } from '../parts/shell.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { addressOf, readViews } from './saved-views.js';
import { SETTINGS, type SettingsCard, settingAddress } from './settings-fields.js';
import { OFFERED } from './sites.js';
import { chooseColumns } from './sites-columns.js';
import { VIEWS as OF_UPDATES } from './update-tabs.js';

type Route = (to: string) => void;

/** The goals, as they are when the search opens: a view may have been saved since. */
export function useGoals(): () => readonly Goal[] {
  const { route } = useLocation();
  const write = useMayWrite();
  const approve = useMayApprove();
  return () => [
    ...VIEWS.map(([to, key]) => ({ to, word: t.nav[key], about: t.keys.kind.view, first: true })),
    ...actions(route, write, approve),
    ...lists(route),
    ...settings(),
  ];
}

function actions(route: Route, write: boolean, approve: boolean): Goal[] {
  const of = (word: string, to: Goal['to'], more: Partial<Goal> = {}) => ({
    word,
    to,
    about: t.keys.kind.action,
    first: true,
    ...more,
  });
  return [
    ...(write ? [of(t.sites.add, '/sites?add')] : []),
    of(t.plan.title, '/updates/plan'),
    ...(write
      ? [
          of(t.keys.syncAll, () =>
            everywhere(t.keys.syncing, () => answer(api.POST('/sites/sync', { body: {} })), route),
          ),
          of(t.keys.checkAll, () =>
            everywhere(t.keys.checking, () => answer(api.POST('/sites/check', { body: {} })), route),
          ),
          of(t.clients.add, '/clients?add'),
        ]
      : []),
    ...(approve ? [of(t.policies.add, '/policies/new')] : []),
    of(t.account.logOut, () => logOut(), { first: false }),
  ];
}

/** Does something on all sites; on very many it becomes a job, which is shown. */
function everywhere(
  begun: string,
  work: () => Promise<{ message: string; job_id?: string | undefined }>,
  route: Route,
): Promise<boolean> {
  showToast(begun);
  return trying(async () => {
    const { message, job_id } = await work();
    refresh('sites:', 'site:', 'running', 'now:');
    if (job_id !== undefined) route(`/jobs?id=${encodeURIComponent(job_id)}`);
    return message;
  });
}

function lists(route: Route): Goal[] {
  const of = (word: string, to: Goal['to']) => ({ word, to, about: t.keys.kind.list });
  return [
    ...readViews().map((view) =>
      of(view.name, () => {
        chooseColumns(view.columns);
        route(addressOf(view));
      }),
    ),
    // The list of each item has the name of the view that it begins in.
    ...OF_UPDATES.filter(([, key]) => key !== 'plan' && key !== 'items').map(([to, key]) => of(t.updates.tab[key], to)),
    of(t.vulnerabilities.title, '/vulnerabilities'),
    of(t.compare.title, '/compare'),
    ...OFFERED.map(([name, value]) =>
      of(t.keys.sitesThat(t.sites.filter(name, value)), `/sites?${new URLSearchParams({ [name]: value })}`),
    ),
    { ...of(t.keys.reference, '/docs'), outside: true },
  ];
}

function settings(): Goal[] {
  const cards = Object.entries(SETTINGS) as [SettingsCard, (typeof SETTINGS)[SettingsCard]][];
  const of = (word: string, card: SettingsCard, name: string) => ({
    word,
    to: settingAddress(card, name),
    about: t.keys.kind.settingOf(t.settings.card[card]),
    late: true,
  });
  return [
    ...cards.map(([card]) => ({
      word: t.settings.card[card],
      to: settingAddress(card),
      about: t.keys.kind.setting,
      late: true,
    })),
    ...cards.flatMap(([card, fields]) => fields.map(([name]) => of(t.settings.field[name][0], card, name))),
    of(t.settings.monitorAll, 'monitors', 'monitor-all'),
    of(t.settings.every, 'monitors', 'monitor-every'),
  ];
}
