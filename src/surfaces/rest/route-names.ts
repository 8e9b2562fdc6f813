/** Turns operation names in our own texts into the routes that do the same: a caller of this interface has no others. */

import { holdsAdvice, renamedIn, renaming } from '../../operation/operation-names.js';
import type { ErrorBody } from '../../runtime/errors.js';

/** The route of each operation that texts advise to call. Operations without a route keep their name. */
export const ROUTE_OF: Readonly<Record<string, string>> = {
  'acknowledge-incident': 'POST /v2/incidents/{incident_id}/acknowledge',
  'activate-site-plugins': 'POST /v2/sites/{id_or_domain}/plugins/activate',
  'add-cost': 'POST /v2/costs/add',
  'add-guidance': 'POST /v2/guidance/add',
  'add-site': 'POST /v2/sites/add',
  'add-time-task': 'POST /v2/time-tracker/tasks/add',
  'back-up-site': 'POST /v2/sites/{id_or_domain}/backups',
  'check-site': 'POST /v2/sites/{id_or_domain}/check',
  'delete-cost': 'DELETE /v2/costs/{cost_id}/remove',
  'delete-site': 'DELETE /v2/sites/{id_or_domain}/remove',
  'delete-site-plugins': 'DELETE /v2/sites/{id_or_domain}/plugins/delete',
  'delete-site-themes': 'DELETE /v2/sites/{id_or_domain}/themes/delete',
  'delete-time-task': 'DELETE /v2/time-tracker/tasks/{task_id}/delete',
  'disconnect-site': 'POST /v2/sites/{id_or_domain}/disconnect',
  'drill-backup': 'POST /v2/backups/{backup_id}/drill',
  'get-backup': 'GET /v2/backups/{backup_id}',
  'get-batch-job-status': 'GET /v2/jobs/{job_id}',
  'get-client': 'GET /v2/clients/{id_or_email}',
  'get-rollout': 'GET /v2/rollouts/{rollout_id}',
  'get-run': 'GET /v2/runs/{run_id}',
  'get-site-guard': 'GET /v2/sites/{id_or_domain}/guard',
  'get-site-plugins': 'GET /v2/sites/{id_or_domain}/plugins',
  'get-site-themes': 'GET /v2/sites/{id_or_domain}/themes',
  'get-site-updates': 'GET /v2/updates/{id_or_domain}',
  'install-site-guard': 'POST /v2/sites/{id_or_domain}/guard',
  'lift-quarantine': 'DELETE /v2/quarantine',
  'list-actions': 'GET /v2/actions',
  'list-approvals': 'GET /v2/approvals',
  'list-backups': 'GET /v2/backups',
  'list-clients': 'GET /v2/clients',
  'list-comments': 'GET /v2/comments',
  'list-guidance': 'GET /v2/guidance',
  'list-ignored-updates': 'GET /v2/updates/ignored',
  'list-incidents': 'GET /v2/incidents',
  'list-policies': 'GET /v2/policies',
  'list-posts': 'GET /v2/posts',
  'list-quarantined-versions': 'GET /v2/quarantine',
  'list-rollouts': 'GET /v2/rollouts',
  'list-runs': 'GET /v2/runs',
  'list-site-snapshots': 'GET /v2/sites/{id_or_domain}/snapshots',
  'list-sites': 'GET /v2/sites',
  'list-tags': 'GET /v2/tags',
  'list-time-buckets': 'GET /v2/time-tracker/buckets',
  'list-time-clients': 'GET /v2/time-tracker/clients',
  'list-time-tasks': 'GET /v2/time-tracker',
  'list-updates': 'GET /v2/updates',
  'plan-updates': 'POST /v2/updates/plans',
  'reconnect-site': 'POST /v2/sites/{id_or_domain}/reconnect',
  'remove-site-guard': 'DELETE /v2/sites/{id_or_domain}/guard',
  'restore-backup': 'POST /v2/backups/{backup_id}/restore',
  'roll-back': 'POST /v2/sites/{id_or_domain}/rollback',
  'safe-update-site': 'POST /v2/sites/{id_or_domain}/safe-update',
  'schedule-backups': 'PUT /v2/backups/schedule',
  'search-changes': 'GET /v2/fleet/changes',
  'set-post-status': 'PUT /v2/posts/{id_or_domain}/{post_id}/update-status',
  'start-rollout': 'POST /v2/rollouts',
  'unsuspend-client': 'POST /v2/clients/{id_or_email}/unsuspend',
  'undo-change': 'POST /v2/actions/undo',
  'unsuspend-site': 'POST /v2/sites/{id_or_domain}/unsuspend',
  'update-client': 'POST /v2/clients/{id_or_email}/edit',
  'update-cost': 'POST /v2/costs/{cost_id}/edit',
  'update-monitors': 'PUT /v2/monitors/{id_or_domain}/settings',
  'update-site': 'POST /v2/sites/{id_or_domain}/edit',
  'update-time-task': 'PUT /v2/time-tracker/tasks/{task_id}/edit',
  'verify-backup': 'POST /v2/backups/{backup_id}/verify',
  'withdraw-approval': 'POST /v2/approvals/{approval_id}/withdraw',
};

/** A text of ours with routes in place of operations. */
export const withRoutes = renaming(new Map(Object.entries(ROUTE_OF).map(([name, route]) => [`svc/${name}-v1`, route])));

/** The body of an error with routes in its texts, and in those of the items it lists. */
export function errorInRoutes(body: ErrorBody): ErrorBody {
  return renamedIn(body, withRoutes);
}

/** The same for an answer, of which only what failed and what it says about itself are looked at: lists may be long. */
export function answerInRoutes<A extends Record<string, unknown>>(answer: A): A {
  const own = Object.entries(answer).filter(([name]) => name === 'errors' || holdsAdvice(name));
  return own.length === 0
    ? answer
    : { ...answer, ...Object.fromEntries(own.map(([name, value]) => [name, renamedIn(value, withRoutes, name)])) };
}
