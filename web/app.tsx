/**
 * Chooses between the login and the fleet, and the view by the address. The views are one script: together they are as large as a
 * picture, and apart a view was thirty requests.
 */

import { useEffect, useState } from 'preact/hooks';
import { ErrorBoundary } from 'preact-iso/lazy';
import { Route, Router, useLocation } from 'preact-iso/router';
import { ApiError } from './api/client.js';
import { reachable } from './api/reachable.js';
import { loadSession, session } from './api/session.js';
import { useStore } from './api/store.js';
import { Offline, Shell } from './parts/shell.js';
import { Failed } from './parts/states.js';
import { Toasts } from './parts/toast.js';
import { t } from './texts/texts.js';
import { Access } from './views/access.js';
import { Approvals } from './views/approvals.js';
import { FleetBackups } from './views/backups.js';
import { Clients } from './views/clients.js';
import { Compare } from './views/compare.js';
import { useGoals } from './views/goals.js';
import { History } from './views/history.js';
import { Jobs } from './views/jobs.js';
import { LogIn } from './views/login.js';
import { Monitors } from './views/monitors.js';
import { NotFound } from './views/not-found.js';
import { Now } from './views/now.js';
import { UpdatePlan } from './views/plan.js';
import { Policies } from './views/policies.js';
import { EditPolicy, NewPolicy, Policy } from './views/policy.js';
import { askedReport } from './views/report-range.js';
import { Reports } from './views/reports.js';
import { Rollout } from './views/rollout.js';
import { Rollouts } from './views/rollouts.js';
import { Run } from './views/run.js';
import { Runs } from './views/runs.js';
import { Settings } from './views/settings.js';
import { Site } from './views/site.js';
import { Sites } from './views/sites.js';
import { Start } from './views/start.js';
import { Updates } from './views/updates.js';
import { Vulnerabilities } from './views/vulnerabilities.js';

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
  const { path, query, route } = useLocation();
  const [broken, setBroken] = useState<Error | null>(null);
  const goals = useGoals();
  useEffect(() => {
    const report = path === '/login' ? askedReport(query.to) : undefined;
    if (report !== undefined) return location.replace(report);
    if (path === '/login') return route('/', true);
    if (firstStart && !asked && path === '/') route('/start', true);
    asked = true;
  }, [path, query.to, firstStart, route]);
  // A part of the page that fails to load belongs to a version that has been replaced.
  if (broken !== null)
    return (
      <Shell goals={goals}>
        <Failed error={new ApiError(-1, '', t.failed.page, null)} retry={() => location.reload()} />
      </Shell>
    );
  return (
    <Shell goals={goals}>
      <ErrorBoundary onError={setBroken}>
        <Router>
          <Route path="/" component={Now} />
          <Route path="/sites" component={Sites} />
          <Route path="/sites/:id" component={Site} />
          <Route path="/compare" component={Compare} />
          <Route path="/updates" component={Updates} />
          <Route path="/updates/plan" component={UpdatePlan} />
          <Route path="/backups" component={FleetBackups} />
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
