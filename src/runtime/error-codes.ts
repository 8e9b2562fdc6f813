/**
 * Every error code of the service, with its HTTP status, what it means and what to do next. One table for all surfaces:
 * a code never has two statuses (operations §1.8, §9; REST §2.3). The help is shown at `svc://errors/{code}`, and with
 * errors that have no advice themselves.
 */

export interface ErrorHelp {
  meaning: string;
  /** What the caller can do next. */
  next: string;
}

const CHECK_INPUT = 'Correct the named field and repeat the call.';
const FIND_SITE = 'Find the id with list-sites-v1; its search matches part of the name or URL.';
const FIND_CLIENT = 'Find the id with list-clients-v1.';
const LOOK_AT_SITE = "Run check-site-v1, and check the site's own log.";
const RETRY = 'Try again. If it keeps happening, the operator can find the reason in the log by the request id.';
const READ_FIRST = 'Read the current state, then decide whether the change is still needed.';
const LIST_FIRST = 'List what exists and use an id from there.';

const CODES = {
  // framework
  rest_no_route: [404, 'Nothing exists at this path.', 'Check the path and method against the documentation.'],
  rest_ability_not_found: [
    404,
    'There is no operation with this name.',
    'List the operations and use a name from there.',
  ],
  rest_ability_category_not_found: [404, 'There is no category with this name.', 'List the categories.'],
  rest_ability_invalid_method: [
    405,
    'The operation does not support this method.',
    'Use a method listed in the Allow header.',
  ],
  rest_method_not_allowed: [405, 'The path does not support this method.', 'Use a method listed in the Allow header.'],
  rest_invalid_json: [400, 'The body is not valid JSON.', 'Send one JSON object.'],
  rest_invalid_param: [400, 'A parameter has an invalid value.', CHECK_INPUT],
  rest_missing_callback_param: [400, 'A required parameter is missing.', 'Send the named parameter.'],
  rest_forbidden: [401, 'This list requires a login.', 'Send credentials with the request.'],
  ability_invalid_input: [400, 'An input field is missing, unknown or invalid.', CHECK_INPUT],
  ability_invalid_output: [500, 'The operation produced an invalid result. This is a bug in Sitefleet.', RETRY],
  empty_body: [400, 'The request has no body, but needs one.', 'Send a JSON body with the fields to change.'],
  invalid_content_type: [415, 'The body has an unsupported content type.', 'Send it as application/json.'],

  // permissions
  svc_permission_denied: [
    403,
    'The login is missing or not allowed to do this.',
    'Use a login or key with the required permission, or ask the operator.',
  ],
  svc_rest_authentication_error: [
    401,
    'The credentials are wrong or missing.',
    'Send a valid API key as a Bearer token.',
  ],
  svc_rest_authentication_missing_parameter: [
    401,
    'The token is missing one of its two parts.',
    'Send the whole API key.',
  ],
  svc_rest_authentication_disabled_key: [401, 'The API key is disabled.', 'Ask the operator to enable it.'],
  svc_rest_authentication_bad_request: [400, 'The credentials were sent over an unencrypted connection.', 'Use HTTPS.'],
  svc_rest_insufficient_permission: [
    403,
    'The key lacks the permission for this.',
    'Use a key with the required permission.',
  ],
  svc_rest_too_many_requests: [429, 'Too many requests in a short time.', 'Wait as long as Retry-After says.'],
  svc_forbidden_origin: [
    403,
    "The request came from another site's web page or with an unknown host name.",
    "Use the service's own URL.",
  ],
  svc_csrf_refused: [
    403,
    'A change was sent with a session cookie, but not verifiably from our own page.',
    'Send Origin, and X-Sitefleet-CSRF with the value from GET /session; or use an API key.',
  ],

  // unknown or ambiguous names
  svc_site_not_found: [404, 'No site matches.', FIND_SITE],
  svc_ambiguous_site: [400, 'Several sites match this domain.', 'Use one of the ids in site_ids.'],
  svc_client_not_found: [404, 'No client matches.', FIND_CLIENT],
  svc_tag_not_found: [404, 'There is no tag with this id.', 'Find the id with list-tags-v1.'],
  svc_job_not_found: [
    404,
    'There is no job with this id. Jobs are kept for a day after they end.',
    'Use the job_id from a queued answer.',
  ],
  svc_run_not_found: [
    404,
    'There is no run of updates with this id. Runs are kept for 180 days.',
    'Find the id with list-runs-v1.',
  ],
  svc_plan_not_found: [
    404,
    'There is no plan with this id. Plans are kept for a day.',
    'Make it again with plan-updates-v1, and show it.',
  ],
  svc_plan_changed: [
    409,
    'The digest does not match the plan, or the plan has lapsed. Nothing was started.',
    'Make the plan again with plan-updates-v1, show it, and start it with its digest.',
  ],
  svc_rollout_not_found: [
    404,
    'There is no rollout with this id. Rollouts are kept for 180 days.',
    'Find the id with list-rollouts-v1.',
  ],
  svc_policy_not_found: [404, 'There is no policy with this id.', 'Find the id with list-policies-v1.'],
  svc_invalid_job_id: [400, 'This is not a valid job id.', 'Use the job_id from a queued answer.'],
  svc_rest_invalid_site_id: [404, 'No site matches.', FIND_SITE],
  svc_rest_invalid_site_data: [404, 'The site has no such data.', 'Sync the site first.'],
  svc_rest_invalid_client_id: [404, 'No client matches.', FIND_CLIENT],
  svc_rest_invalid_client_data: [404, 'The client has no such data.', 'Read the client to see what is stored.'],
  svc_rest_monitor_not_found: [404, 'The site has no such monitor.', LIST_FIRST],
  api_key_not_found: [404, 'There is no API key with this id.', LIST_FIRST],
  svc_user_not_found: [404, 'There is no user with this id.', LIST_FIRST],
  svc_cost_not_found: [404, 'There is no cost with this id.', LIST_FIRST],
  svc_incident_not_found: [404, 'There is no incident with this id.', LIST_FIRST],
  svc_alert_recipient_not_found: [404, 'There is no alert recipient with this id.', LIST_FIRST],
  svc_alert_delivery_not_found: [404, 'There is no alert delivery with this id.', LIST_FIRST],

  // input
  svc_invalid_input: [400, 'The input is contradictory or invalid.', CHECK_INPUT],
  svc_invalid_url: [400, "The URL cannot be a site's address.", 'Send the full public URL, starting with https://.'],
  invalid_period: [400, 'There is no data for this period.', CHECK_INPUT],
  svc_domain_tld_unsupported: [
    422,
    'No registry can be queried for this top-level domain.',
    'Enter the expiry date manually.',
  ],
  svc_confirmation_required: [
    400,
    'This call deletes something and was not confirmed. Nothing changed.',
    'Preview with dry_run: true, show the user what would be deleted, then repeat with confirm: true.',
  ],
  svc_approval_required: [
    403,
    'This change needs the approval of a person. Nothing changed.',
    'Tell the user which request waits and where, and repeat the call unchanged once it is approved.',
  ],
  svc_approval_refused: [403, 'A person refused this change. Nothing changed.', 'Tell the user; do not ask again.'],
  svc_change_not_allowed: [
    403,
    'The approval rules do not allow this change. Nothing changed.',
    'A person with the right to approve can make it on the page.',
  ],
  svc_approval_not_found: [404, 'There is no request for approval with this id.', 'Find it with list-approvals-v1.'],
  svc_site_already_exists: [409, 'A site with this URL already exists.', 'Use the existing site.'],
  svc_already_exists: [409, 'Something with this name or address already exists.', 'Use it, or choose another name.'],
  svc_module_not_available: [501, 'This module is disabled.', 'The operator can add it to SITEFLEET_MODULES.'],
  svc_rest_request_entity_too_large: [413, 'The body, or a list in it, is too large.', 'Split it into smaller calls.'],
  svc_rest_conflict: [409, 'The change conflicts with the current state.', READ_FIRST],
  svc_rest_site_exists: [409, 'A site with this URL already exists.', 'Use the existing site.'],
  svc_rest_unique_id_required: [
    409,
    'The site requires its security id.',
    "Send unique_id as shown in the site's MainWP Child settings.",
  ],
  svc_rest_invalid_plugins_slugs: [400, 'None of the slugs is a plugin on the site.', "List the site's plugins."],
  svc_rest_invalid_themes_slugs: [400, 'None of the slugs is a theme on the site.', "List the site's themes."],
  svc_idempotency_key_reused: [
    422,
    'The idempotency key was already used for a different call.',
    'Use a new key for each change.',
  ],
  svc_idempotency_in_progress: [
    409,
    'The first call with this key is still running.',
    'Wait, then repeat it unchanged.',
  ],

  // failures of the child site
  svc_connection_failed: [
    503,
    'The site could not be reached, or did not answer as a MainWP Child site.',
    LOOK_AT_SITE,
  ],
  svc_invalid_credentials: [
    422,
    'The site refused the administrator login or the security id.',
    'Check admin, admin_password and unique_id with the user.',
  ],
  svc_site_add_failed: [500, 'The site answered, but could not be saved.', RETRY],
  svc_site_suspended: [409, 'The site is suspended and is not contacted.', 'Unsuspend it first if the user agrees.'],
  svc_site_disconnected: [
    409,
    'The site is disconnected and is not contacted.',
    'Reconnect it with reconnect-site-v1.',
  ],
  svc_site_on_trial: [
    409,
    'The site is on trial beside another dashboard and is read-only here. Nothing changed.',
    'The operator ends the trial with "sitefleet import finish". Until then, make changes in the other dashboard.',
  ],
  svc_site_offline: [
    503,
    'The site did not answer, or is known to be down.',
    'Run check-site-v1, and reconnect once it is back.',
  ],
  svc_still_running: [
    504,
    'The site did not answer in time, which does not mean that it is down. If the answer names a job, it continues the work.',
    'Follow the job with get-batch-job-status-v1: until it ends, repeating the call returns the same job. Without a job, try again later.',
  ],
  svc_site_refused: [502, 'The site refused the request.', LOOK_AT_SITE],
  svc_child_version_outdated: [400, "The site's MainWP Child plugin is outdated.", 'Update it on the site, then sync.'],
  svc_child_error: [502, 'The child plugin reported an error.', LOOK_AT_SITE],
  svc_sync_failed: [502, 'The site answered, but its data could not be read.', LOOK_AT_SITE],
  svc_sync_in_progress: [409, 'The site is currently being synced.', 'Wait half a minute, then read it.'],
  svc_reconnect_failed: [503, 'The site could not be reconnected.', LOOK_AT_SITE],
  svc_disconnect_failed: [500, 'The site could not be disconnected.', RETRY],
  svc_suspend_failed: [500, 'The site could not be suspended.', RETRY],
  svc_check_failed: [503, "The check itself failed, so the site's state is unknown.", RETRY],
  svc_domain_lookup_failed: [502, "The domain's registry gave no usable answer.", 'Try again in an hour.'],
  svc_activation_failed: [502, 'The site did not activate it.', LOOK_AT_SITE],
  svc_deactivation_failed: [502, 'The site did not deactivate it.', LOOK_AT_SITE],
  svc_deletion_failed: [500, 'It was not deleted.', LOOK_AT_SITE],
  svc_update_failed: [502, 'The site did not install the update; its version is as before.', LOOK_AT_SITE],
  svc_update_exception: [500, 'The update stopped unexpectedly.', 'Sync the site and compare versions.'],
  svc_no_updates: [404, 'There is nothing to update.', 'If you expected an update, sync the site.'],
  svc_update_rolled_back: [
    502,
    'The new version broke the site and was rolled back.',
    'Nothing needs doing on the site. The version is quarantined until a newer one is offered or a person lifts the quarantine.',
  ],
  svc_update_broke_site: [
    502,
    'The site is unhealthy after the update, and nothing that could be rolled back has fixed it.',
    'A person needs to look at the site now.',
  ],
  svc_update_unprotected: [
    409,
    'The item could not be rolled back, so it was not updated.',
    'Install a guard with install-site-guard-v1, or allow weaker protection.',
  ],
  svc_version_quarantined: [
    409,
    'The version broke this site, or others, and is quarantined.',
    'Wait for a newer version, or let a person lift it with lift-quarantine-v1.',
  ],
  svc_requirement_missing: [
    409,
    'The version needs a newer PHP or WordPress than the site has, so the item was not updated.',
    'Update PHP or WordPress on the site and sync it, or wait for another version.',
  ],
  svc_backup_required: [
    409,
    'The site must have a recent backup before it is updated, and has none, so nothing was updated there.',
    'The message says what prevented one: fix that and try again, or back the site up with back-up-site-v1.',
  ],
  svc_offer_changed: [
    409,
    'What the site has or offers differs from the plan, so the item was not updated.',
    'Make a new plan for what is left.',
  ],
  svc_update_ignored: [
    409,
    'The update has been ignored since the plan was made, so the item was not updated.',
    'If it is wanted, stop ignoring it, and make a new plan.',
  ],
  svc_rollout_halted: [
    409,
    'The item broke another site of its rollout, so it was not updated here.',
    'Read the rollout with get-rollout-v1.',
  ],
  svc_window_missed: [
    409,
    'The window of the site was over whenever its turn in the rollout came, so the item was not updated.',
    'Make the window longer, or update the site by a plan of its own.',
  ],
  svc_site_unhealthy: [409, 'The site was unhealthy before the update, so it was not updated.', LOOK_AT_SITE],
  svc_snapshot_refused: [
    409,
    'The guard could not save a copy of the old version, so the item was not updated.',
    'Fix the cause named in the message on the site.',
  ],
  svc_snapshot_not_found: [
    404,
    'There is no copy of this version.',
    'See what can be rolled back with list-site-snapshots-v1.',
  ],
  svc_action_not_found: [404, 'The log has no entry with this id.', 'Find the id with list-actions-v1.'],
  svc_not_undoable: [409, 'This change cannot be undone.', 'The message says why, and what can be done instead.'],
  svc_already_undone: [409, 'It is as it was before the change.', 'Nothing needs to be done.'],
  svc_changed_since: [409, 'It was changed again since, so it was left alone.', READ_FIRST],
  svc_undo_plan_changed: [
    409,
    'The undo would now do something other than what was previewed.',
    'Preview with dry_run again, and decide from what it says now.',
  ],
  svc_change_not_found: [404, 'There is no update with this change_id.', 'Find change_id with list-site-snapshots-v1.'],
  svc_quarantine_not_found: [
    404,
    'This version is not quarantined.',
    'Find exact slugs and versions with list-quarantined-versions-v1.',
  ],
  svc_guard_unavailable: [
    502,
    'The site has a guard, but it does not answer.',
    'Reinstall it with install-site-guard-v1, or remove it with remove-site-guard-v1.',
  ],
  svc_guard_refused: [409, "The site's guard refused.", 'Fix the cause named in the message on the site.'],
  svc_guard_install_failed: [
    502,
    'The guard could not be installed through the child plugin.',
    'Copy it onto the site manually, as docs/guard.md describes.',
  ],
  svc_backup_not_found: [404, 'There is no backup with this id.', 'Find the id with list-backups-v1.'],
  svc_backup_running: [409, 'Another backup or restore of the site is under way.', 'Try again when it has ended.'],
  svc_backup_failed: [502, 'The site could not be backed up.', LOOK_AT_SITE],
  svc_restore_failed: [502, 'The site could not be restored.', LOOK_AT_SITE],
  svc_backup_storage: [
    503,
    'The repository of backups cannot be used.',
    'Fix the cause named in the message; verify-backup-v1 says what is affected.',
  ],
  svc_rest_activate_plugins_action: [502, 'The site activated none of the plugins.', LOOK_AT_SITE],
  svc_rest_deactivate_plugins_action: [502, 'The site deactivated none of the plugins.', LOOK_AT_SITE],
  svc_rest_delete_plugins_action: [502, 'The site deleted none of the plugins.', LOOK_AT_SITE],
  svc_rest_activate_themes_action: [502, 'The site did not switch its theme.', LOOK_AT_SITE],
  svc_rest_delete_themes_action: [502, 'The site deleted none of the themes.', LOOK_AT_SITE],
  svc_rest_reconnect_site_error: [502, 'The site could not be reconnected.', LOOK_AT_SITE],
  svc_rest_updates_site_error: [409, 'The site may not be updated now.', READ_FIRST],
  svc_rest_upgrade_wp_of_site_error: [502, 'The site did not update WordPress.', LOOK_AT_SITE],
  svc_rest_upgrade_plugins_of_site_error: [502, 'The site updated none of the plugins.', LOOK_AT_SITE],
  svc_rest_upgrade_themes_of_site_error: [502, 'The site updated none of the themes.', LOOK_AT_SITE],
  svc_rest_upgrade_translations_of_site_error: [502, 'The site updated no translation.', LOOK_AT_SITE],

  // posts and comments (REST §6.4, §6.12)
  svc_rest_comment_not_found: [404, 'No comment has this id on the site.', LIST_FIRST],
  svc_answer_too_large: [
    413,
    "The other sites' answers already filled the response.",
    'Ask for fewer sites or items at once.',
  ],
  website_not_found: [404, 'The filters match no site.', FIND_SITE],
  post_not_exist: [404, 'The site has no such post.', LIST_FIRST],
  incomplete_date_range: [400, 'Only one end of the date range was given.', 'Send both ends.'],
  invalid_date_range: [
    400,
    'The date range ends before it begins, or is not a valid date.',
    'Send dates as YYYY-MM-DD.',
  ],
  get_post_error: [502, 'The site did not return the post.', LOOK_AT_SITE],
  create_post_error: [502, 'The site did not create the post.', LOOK_AT_SITE],
  edit_post_error: [502, 'The site did not open the post for editing.', LOOK_AT_SITE],
  edit_post_failed: [502, 'The site did not save the post.', LOOK_AT_SITE],
  update_post_status_error: [502, "The site did not change the post's status.", LOOK_AT_SITE],
  delete_post_error: [502, 'The site did not delete the post.', LOOK_AT_SITE],

  // settings and tools (REST §6.10)
  invalid_backup_config: [400, 'The backup settings contradict each other.', CHECK_INPUT],
  invalid_mail_type: [404, 'There is no mail of this type.', 'List the mail settings to see the types.'],
  invalid_slug: [404, 'Nothing has this name.', LIST_FIRST],
  duplicate_title: [409, 'The title is already taken.', 'Choose another title.'],
  no_website_found: [404, 'No site matches.', 'Add a site, or change the filters.'],
  destroy_session_job_not_found: [404, 'There is no such job.', 'Start it again.'],
  renew_connection_job_not_found: [404, 'There is no such job.', 'Start it again.'],
  disconnect_job_not_found: [404, 'There is no such job.', 'Start it again.'],

  // audits, time tracker
  svc_perf_audit_not_configured: [
    409,
    'No audit tool is set up.',
    'The operator can install Lighthouse or set a PageSpeed key.',
  ],
  svc_time_tracker_task_not_found: [404, 'There is no task with this id.', LIST_FIRST],
  svc_time_tracker_bucket_not_found: [404, 'There is no time budget with this id.', LIST_FIRST],
  svc_time_tracker_bucket_client_mismatch: [400, 'The time budget belongs to another client.', LIST_FIRST],
  svc_time_tracker_invalid_transition: [409, 'The task cannot change from its current state to this one.', READ_FIRST],

  // internal
  svc_client_creation_failed: [500, 'The client was not saved.', RETRY],
  svc_client_update_failed: [500, 'The client was not changed.', RETRY],
  svc_client_deletion_failed: [500, 'The client was not deleted.', RETRY],
  svc_operation_failed: [500, 'The operation failed in Sitefleet, not on the site.', RETRY],
  svc_queue_failed: [500, 'The job could not be saved. Nothing was started.', RETRY],
  create_key_failed: [500, 'The API key was not saved.', RETRY],
  update_key_failed: [500, 'The API key was not changed.', RETRY],
  delete_key_failed: [500, 'The API key was not deleted.', RETRY],
  svc_job_timeout: [
    500,
    'The job exceeded its time limit; some sites were not processed.',
    'Repeat the call for those sites.',
  ],
  svc_storage_unavailable: [
    503,
    'The database is not responding.',
    'Try again in a minute. If it still fails, tell the operator.',
  ],
  svc_cancelled: [499, 'The call was cancelled before it finished.', 'Check what was done before you repeat it.'],
  svc_internal_error: [500, 'Something unexpected went wrong in Sitefleet.', RETRY],
} as const satisfies Record<string, readonly [status: number, meaning: string, next: string]>;

export type ErrorCode = keyof typeof CODES;

export const ERROR_CODES = Object.keys(CODES) as ErrorCode[];

/** The HTTP status of each code. */
export const STATUS = Object.fromEntries(ERROR_CODES.map((code) => [code, CODES[code][0]])) as Record<
  ErrorCode,
  number
>;

export function errorHelp(code: ErrorCode): ErrorHelp {
  const [, meaning, next] = CODES[code];
  return { meaning, next };
}

/** Returns the text as a known error code, or undefined. */
export function knownCode(text: string): ErrorCode | undefined {
  return Object.hasOwn(STATUS, text) ? (text as ErrorCode) : undefined;
}
