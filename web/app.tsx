/** Chooses between the login and the fleet, and the view by the address. Each view is loaded when it is first shown. */

import { useEffect, useState } from 'preact/hooks';
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { Route, Router, useLocation } from 'preact-iso/router';
import { ApiError } from './api/client.js';
import { reachable } from './api/reachable.js';
import { loadSession, session } from './api/session.js';
import { useStore } from './api/store.js';
import { Offline, Shell } from './parts/shell.js';
import { Failed } from './parts/states.js';
import { Toasts } from './parts/toast.js';
import { t } from './texts/texts.js';
import { LogIn } from './views/login.js';
import { NotFound } from './views/not-found.js';
import { Now } from './views/now.js';

const Sites = lazy(() => import('./views/sites.js').then(({ Sites }) => Sites));
const Site = lazy(() => import('./views/site.js').then(({ Site }) => Site));
const Compare = lazy(() => import('./views/compare.js').then(({ Compare }) => Compare));
const UpdatePlan = lazy(() => import('./views/plan.js').then(({ UpdatePlan }) => UpdatePlan));
const Updates = lazy(() => import('./views/updates.js').then(({ Updates }) => Updates));
const Vulnerabilities = lazy(() => import('./views/vulnerabilities.js').then(({ Vulnerabilities }) => Vulnerabilities));
const Runs = lazy(() => import('./views/runs.js').then(({ Runs }) => Runs));
const Run = lazy(() => import('./views/run.js').then(({ Run }) => Run));
const Rollouts = lazy(() => import('./views/rollouts.js').then(({ Rollouts }) => Rollouts));
const Rollout = lazy(() => import('./views/rollout.js').then(({ Rollout }) => Rollout));
const Policies = lazy(() => import('./views/policies.js').then(({ Policies }) => Policies));
const Policy = lazy(() => import('./views/policy.js').then(({ Policy }) => Policy));
const EditPolicy = lazy(() => import('./views/policy.js').then(({ EditPolicy }) => EditPolicy));
const NewPolicy = lazy(() => import('./views/policy.js').then(({ NewPolicy }) => NewPolicy));
const Monitors = lazy(() => import('./views/monitors.js').then(({ Monitors }) => Monitors));
const History = lazy(() => import('./views/history.js').then(({ History }) => History));
const Clients = lazy(() => import('./views/clients.js').then(({ Clients }) => Clients));
const Reports = lazy(() => import('./views/reports.js').then(({ Reports }) => Reports));
const Jobs = lazy(() => import('./views/jobs.js').then(({ Jobs }) => Jobs));
const Approvals = lazy(() => import('./views/approvals.js').then(({ Approvals }) => Approvals));
const Access = lazy(() => import('./views/access.js').then(({ Access }) => Access));
const Settings = lazy(() => import('./views/settings.js').then(({ Settings }) => Settings));
const Start = lazy(() => import('./views/start.js').then(({ Start }) => Start));

export function App() {
  const current = useStore(session);
  const answers = useStore(reachable);
  useEffect(() => {
    if (answers && current === null) void loadSession();
  }, [answers, current]);
  if (current === null) return <Offline whole />;
  return (
    <>
      {current.authenticated ? <Fleet firstStart={current.first_start} /> : <LogIn />}
      <Toasts />
    </>
  );
}

/** The start view is offered at most once per page load, even if it was not completed. */
let asked = false;

function Fleet({ firstStart }: { firstStart: boolean }) {
  const { path, route } = useLocation();
  const [broken, setBroken] = useState<Error | null>(null);
  useEffect(() => {
    if (path === '/login') return route('/', true);
    if (firstStart && !asked && path === '/') route('/start', true);
    asked = true;
  }, [path, firstStart, route]);
  // A part of the page that fails to load belongs to a version that has been replaced.
  if (broken !== null)
    return (
      <Shell>
        <Failed error={new ApiError(-1, '', t.failed.page, null)} retry={() => location.reload()} />
      </Shell>
    );
  return (
    <Shell>
      <ErrorBoundary onError={setBroken}>
        <Router>
          <Route path="/" component={Now} />
          <Route path="/sites" component={Sites} />
          <Route path="/sites/:id" component={Site} />
          <Route path="/compare" component={Compare} />
          <Route path="/updates" component={Updates} />
          <Route path="/updates/plan" component={UpdatePlan} />
          <Route path="/vulnerabilities" component={Vulnerabilities} />
          <Route path="/runs" component={Runs} />
          <Route path="/runs/:id" component={Run} />
          <Route path="/rollouts" component={Rollouts} />
          <Route path="/rollouts/:id" component={Rollout} />
          <Route path="/policies" component={Policies} />
          <Route path="/policies/new" component={NewPolicy} />
          <Route path="/policies/:id" component={Policy} />
          <Route path="/policies/:id/edit" component={EditPolicy} />
          <Route path="/monitors" component={Monitors} />
          <Route path="/history" component={History} />
          <Route path="/clients" component={Clients} />
          <Route path="/reports" component={Reports} />
          <Route path="/jobs" component={Jobs} />
          <Route path="/approvals" component={Approvals} />
          <Route path="/access" component={Access} />
          <Route path="/settings" component={Settings} />
          <Route path="/start" component={Start} />
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </Shell>
  );
}
