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
const FIND_SITE = 'Find the right id with list-sites-v1; its search takes a part of the name or URL.';
const FIND_CLIENT = 'Find the right id with list-clients-v1.';
const LOOK_AT_SITE = 'Run check-site-v1 on the site, and look at the log of the site itself.';
const RETRY = 'Try again; if it happens again, the operator finds the reason in the log under the request id.';
const READ_FIRST = 'Read the present state, then decide whether the change is still needed.';
const LIST_FIRST = 'List what exists and use an id from there.';

const CODES = {
  // framework
  rest_no_route: [404, 'There is nothing at this address.', 'Check the path and the method against the documentation.'],
  rest_ability_not_found: [404, 'No operation has this name.', 'List the operations and use a name from there.'],
  rest_ability_category_not_found: [404, 'No category has this name.', 'List the categories.'],
  rest_ability_invalid_method: [405, 'The operation is not run by this method.', 'Use a method of the Allow header.'],
  rest_method_not_allowed: [405, 'The address does not take this method.', 'Use a method of the Allow header.'],
  rest_invalid_json: [400, 'The body is not valid JSON.', 'Send one JSON object.'],
  rest_invalid_param: [400, 'A parameter has a value that cannot be used.', CHECK_INPUT],
  rest_missing_callback_param: [400, 'A required parameter is missing.', 'Send the named parameter.'],
  rest_forbidden: [401, 'This list is shown only after a login.', 'Send a login with the request.'],
  ability_invalid_input: [400, 'An input field is missing, unknown, or has a value that cannot be used.', CHECK_INPUT],
  ability_invalid_output: [
    500,
    'The operation made an answer that does not keep its own contract: a fault here.',
    RETRY,
  ],
  empty_body: [400, 'The call needs a body and has none.', 'Send a JSON body with the fields to change.'],
  invalid_content_type: [415, 'The body is of a type that is not read here.', 'Send it as application/json.'],

  // permissions
  svc_permission_denied: [
    403,
    'The login is missing, or may not do this.',
    'Use a login or key with the needed right, or ask the operator.',
  ],
  svc_access_denied: [
    403,
    'The login may not use this site or client.',
    'Leave it out, or ask the operator for access.',
  ],
  svc_rest_authentication_error: [
    401,
    'The credentials are wrong or missing.',
    'Send a valid API key as Bearer token.',
  ],
  svc_rest_authentication_missing_parameter: [
    401,
    'The token has only one of its two parts.',
    'Send the whole API key.',
  ],
  svc_rest_authentication_disabled_key: [401, 'The API key is switched off.', 'Ask the operator to enable it.'],
  svc_rest_authentication_bad_request: [400, 'The credentials came over an unencrypted connection.', 'Use HTTPS.'],
  svc_rest_insufficient_permission: [403, 'The key lacks the right for this.', 'Use a key with the needed right.'],
  svc_rest_too_many_requests: [429, 'Too many requests in a short time.', 'Wait as long as Retry-After says.'],
  svc_forbidden_origin: [
    403,
    'The request came from a web page or by a host name that is not ours.',
    'Use the right URL.',
  ],
  svc_csrf_refused: [
    403,
    'A change was sent with the session cookie, but not provably by our own page.',
    'Send Origin and X-Sitefleet-CSRF as GET /session answers it, or use an API key.',
  ],

  // unknown or ambiguous names
  svc_site_not_found: [404, 'No site matches.', FIND_SITE],
  svc_ambiguous_site: [400, 'Several sites match this domain.', 'Use one of the ids in site_ids.'],
  svc_client_not_found: [404, 'No client matches.', FIND_CLIENT],
  svc_tag_not_found: [404, 'No tag has this id.', 'Find the right id with list-tags-v1.'],
  svc_job_not_found: [404, 'No job has this id; ended jobs are kept for a day.', 'Use the job_id of a queued answer.'],
  svc_invalid_job_id: [400, 'This is not the form of a job id.', 'Use the job_id of a queued answer.'],
  svc_rest_invalid_site_id: [404, 'No site matches.', FIND_SITE],
  svc_rest_invalid_site_data: [404, 'The site has no such data.', 'Sync the site first.'],
  svc_rest_invalid_client_id: [404, 'No client matches.', FIND_CLIENT],
  svc_rest_invalid_client_data: [404, 'The client has no such data.', 'Read the client to see what is stored.'],
  svc_rest_monitor_not_found: [404, 'The site has no such monitor.', LIST_FIRST],
  api_key_not_found: [404, 'No API key has this id.', LIST_FIRST],
  svc_user_not_found: [404, 'No user has this id.', LIST_FIRST],
  svc_cost_not_found: [404, 'No cost has this id.', LIST_FIRST],
  svc_incident_not_found: [404, 'No incident has this id.', LIST_FIRST],
  svc_alert_recipient_not_found: [404, 'No alert recipient has this id.', LIST_FIRST],
  svc_alert_delivery_not_found: [404, 'No alert delivery has this id.', LIST_FIRST],

  // input
  svc_invalid_input: [400, 'The input contradicts itself or cannot be used as it is.', CHECK_INPUT],
  svc_invalid_url: [400, 'The URL cannot be the address of a site.', 'Send the full public address, with https://.'],
  invalid_period: [400, 'The period is not one that is kept.', CHECK_INPUT],
  svc_domain_tld_unsupported: [
    422,
    'No registry answers for domains with this ending.',
    'Enter the expiry date by hand.',
  ],
  svc_confirmation_required: [
    400,
    'The call destroys something and was not confirmed. Nothing changed.',
    'Preview with dry_run: true, show the user what would go, then repeat with confirm: true.',
  ],
  svc_site_already_exists: [409, 'A site with this URL is connected already.', 'Use the existing site.'],
  svc_already_exists: [409, 'Something with this name or address exists already.', 'Use it, or choose another name.'],
  svc_module_not_available: [
    501,
    'This part of the product is switched off.',
    'The operator adds it to SITEFLEET_MODULES.',
  ],
  svc_rest_request_entity_too_large: [
    413,
    'The body or a list in it is too large.',
    'Split the call into smaller ones.',
  ],
  svc_rest_conflict: [409, 'The change contradicts the present state.', READ_FIRST],
  svc_rest_site_exists: [409, 'A site with this URL is connected already.', 'Use the existing site.'],
  svc_rest_unique_id_required: [
    409,
    'The site wants its security id.',
    "Send unique_id as shown on the site's child settings.",
  ],
  svc_rest_invalid_plugins_slugs: [400, 'None of the slugs is a plugin of the site.', 'List the plugins of the site.'],
  svc_rest_invalid_themes_slugs: [400, 'None of the slugs is a theme of the site.', 'List the themes of the site.'],
  svc_idempotency_key_reused: [422, 'The idempotency key was used for another call.', 'Use a fresh key per change.'],
  svc_idempotency_in_progress: [
    409,
    'The first call with this key is still running.',
    'Wait, then repeat it unchanged.',
  ],

  // failures of the child site
  svc_connection_failed: [503, 'The site could not be reached or did not answer as a child.', LOOK_AT_SITE],
  svc_invalid_credentials: [
    422,
    'The site refused the administrator login or the security id.',
    'Check admin, admin_password and unique_id with the user.',
  ],
  svc_site_add_failed: [500, 'The site answered, but could not be stored.', RETRY],
  svc_site_suspended: [
    409,
    'The site is suspended, so it is not contacted.',
    'Unsuspend it first, if the user agrees.',
  ],
  svc_site_disconnected: [
    409,
    'The site is disconnected, so it is not contacted.',
    'Reconnect it with reconnect-site-v1.',
  ],
  svc_site_on_trial: [
    409,
    'The site is on trial beside another dashboard, so it is only read here. Nothing changed.',
    'The operator ends the trial with "sitefleet import finish"; until then the other dashboard makes changes.',
  ],
  svc_site_offline: [
    503,
    'The site gave no answer, or is known to be down.',
    'Run check-site-v1; reconnect when it is back.',
  ],
  svc_still_running: [
    504,
    'The site is slow: the time of the call is up, and a job does the rest.',
    'Read the job with get-batch-job-status-v1; the same call finds it until it has ended.',
  ],
  svc_site_refused: [502, 'The site answered with a refusal.', LOOK_AT_SITE],
  svc_child_version_outdated: [
    400,
    'The MainWP Child plugin of the site is too old.',
    'Update it on the site, then sync.',
  ],
  svc_child_error: [502, 'The child plugin reported an error.', LOOK_AT_SITE],
  svc_sync_failed: [502, 'The site answered, but its data could not be read.', LOOK_AT_SITE],
  svc_sync_in_progress: [409, 'The site is being synced right now.', 'Wait half a minute, then read it.'],
  svc_reconnect_failed: [503, 'The connection could not be made again.', LOOK_AT_SITE],
  svc_disconnect_failed: [500, 'The site could not be disconnected.', RETRY],
  svc_suspend_failed: [500, 'The site could not be suspended.', RETRY],
  svc_check_failed: [503, 'The check itself failed, so nothing is known of the site.', RETRY],
  svc_domain_lookup_failed: [502, 'The registry of the domain gave no usable answer.', 'Try again in an hour.'],
  svc_activation_failed: [502, 'The site did not activate it.', LOOK_AT_SITE],
  svc_deactivation_failed: [502, 'The site did not deactivate it.', LOOK_AT_SITE],
  svc_deletion_failed: [500, 'It was not deleted.', LOOK_AT_SITE],
  svc_update_failed: [502, 'The site did not install the update; its version is as before.', LOOK_AT_SITE],
  svc_update_exception: [
    500,
    'The update broke off in a way that was not expected.',
    'Sync the site and compare versions.',
  ],
  svc_no_updates: [404, 'There is nothing to update.', 'Sync the site if an update was expected.'],
  svc_update_rolled_back: [
    502,
    'The new version broke the site, so the old one was put back.',
    'Nothing is to be done on the site. The version is held back until a newer one is offered or a person lifts it.',
  ],
  svc_update_broke_site: [
    502,
    'The site is not well after the update, and nothing that could be put back has helped.',
    'A person has to look at the site now.',
  ],
  svc_update_unprotected: [
    409,
    'The item could not be put back, so it was not updated.',
    'Install a guard with install-site-guard-v1, or allow a lower protection.',
  ],
  svc_version_quarantined: [
    409,
    'The version broke this site, or others, and is held back.',
    'Wait for a newer version; a person may let it pass with lift-quarantine-v1.',
  ],
  svc_site_unhealthy: [409, 'The site was not well before the update, so it was left alone.', LOOK_AT_SITE],
  svc_snapshot_refused: [
    409,
    'The guard could not keep a copy of the old version, so it was not updated.',
    'Remove the reason that the message names, on the site.',
  ],
  svc_snapshot_not_found: [
    404,
    'There is no copy of this version.',
    'Read what can be put back with list-site-snapshots-v1.',
  ],
  svc_change_not_found: [404, 'No update is known by this name.', 'Read change_id with list-site-snapshots-v1.'],
  svc_quarantine_not_found: [
    404,
    'This version is not held back.',
    'Read the exact slugs and versions with list-quarantined-versions-v1.',
  ],
  svc_guard_unavailable: [
    502,
    'The site has a guard, but it does not answer.',
    'Install it again with install-site-guard-v1, or give it up with remove-site-guard-v1.',
  ],
  svc_guard_refused: [409, 'The guard of the site refuses.', 'Remove the reason that the message names, on the site.'],
  svc_guard_install_failed: [
    502,
    'The guard could not be installed through the child plugin.',
    'Copy it onto the site manually, as docs/guard.md describes.',
  ],
  svc_rest_activate_plugins_action: [502, 'The site activated none of the plugins.', LOOK_AT_SITE],
  svc_rest_deactivate_plugins_action: [502, 'The site deactivated none of the plugins.', LOOK_AT_SITE],
  svc_rest_delete_plugins_action: [502, 'The site deleted none of the plugins.', LOOK_AT_SITE],
  svc_rest_activate_themes_action: [502, 'The site did not switch its theme.', LOOK_AT_SITE],
  svc_rest_delete_themes_action: [502, 'The site deleted none of the themes.', LOOK_AT_SITE],
  svc_rest_updates_site_error: [409, 'The site may not be updated now.', READ_FIRST],
  svc_rest_upgrade_wp_of_site_error: [502, 'The site did not update WordPress.', LOOK_AT_SITE],
  svc_rest_upgrade_plugins_of_site_error: [502, 'The site updated none of the plugins.', LOOK_AT_SITE],
  svc_rest_upgrade_themes_of_site_error: [502, 'The site updated none of the themes.', LOOK_AT_SITE],
  svc_rest_upgrade_translations_of_site_error: [502, 'The site updated no translation.', LOOK_AT_SITE],

  // posts and comments (REST §6.4, §6.12)
  svc_rest_comment_not_found: [404, 'No comment has this id on the site.', LIST_FIRST],
  svc_answer_too_large: [
    413,
    'The answers of the other sites filled the call.',
    'Ask for fewer sites or items at once.',
  ],
  website_not_found: [404, 'The filters name no site.', FIND_SITE],
  post_not_exist: [404, 'The site has no such post.', LIST_FIRST],
  incomplete_date_range: [400, 'Only one end of the date range was sent.', 'Send both ends.'],
  invalid_date_range: [400, 'The date range ends before it begins, or is no date.', 'Send dates as YYYY-MM-DD.'],
  get_post_error: [502, 'The site did not hand out the post.', LOOK_AT_SITE],
  create_post_error: [502, 'The site did not create the post.', LOOK_AT_SITE],
  edit_post_error: [502, 'The site did not open the post for a change.', LOOK_AT_SITE],
  edit_post_failed: [502, 'The site did not save the post.', LOOK_AT_SITE],
  update_post_status_error: [502, 'The site did not change the state of the post.', LOOK_AT_SITE],
  delete_post_error: [502, 'The site did not delete the post.', LOOK_AT_SITE],

  // settings and tools (REST §6.10)
  invalid_backup_config: [400, 'The backup settings contradict each other.', CHECK_INPUT],
  invalid_mail_type: [404, 'There is no mail of this type.', 'List the mail settings for the types.'],
  invalid_slug: [404, 'There is nothing of this name.', LIST_FIRST],
  duplicate_title: [409, 'The title is taken.', 'Choose another title.'],
  no_website_found: [404, 'There is no site to work on.', 'Add a site, or change the filters.'],
  destroy_session_job_not_found: [404, 'No such job is known.', 'Start it again.'],
  renew_connection_job_not_found: [404, 'No such job is known.', 'Start it again.'],
  disconnect_job_not_found: [404, 'No such job is known.', 'Start it again.'],

  // audits, time tracker
  svc_perf_audit_not_configured: [409, 'No browser for audits is set up.', 'The operator installs the audit tool.'],
  svc_time_tracker_task_not_found: [404, 'No task has this id.', LIST_FIRST],
  svc_time_tracker_bucket_not_found: [404, 'No time budget has this id.', LIST_FIRST],
  svc_time_tracker_bucket_client_mismatch: [400, 'The time budget belongs to another client.', LIST_FIRST],
  svc_time_tracker_invalid_transition: [409, 'The task cannot go from its state to this one.', READ_FIRST],

  // internal
  svc_client_creation_failed: [500, 'The client was not stored.', RETRY],
  svc_client_update_failed: [500, 'The client was not changed.', RETRY],
  svc_client_deletion_failed: [500, 'The client was not deleted.', RETRY],
  svc_operation_failed: [500, 'The operation failed here, not at the site.', RETRY],
  svc_queue_failed: [500, 'The job could not be stored. Nothing was started.', RETRY],
  create_key_failed: [500, 'The API key was not stored.', RETRY],
  update_key_failed: [500, 'The API key was not changed.', RETRY],
  delete_key_failed: [500, 'The API key was not deleted.', RETRY],
  svc_job_timeout: [
    500,
    'The job ran longer than its limit; some sites were not reached.',
    'Call again for those sites.',
  ],
  svc_storage_unavailable: [503, 'The database does not answer.', 'Try again in a minute; then tell the operator.'],
  svc_cancelled: [499, 'The call was cancelled before it finished.', 'Read what was done before repeating it.'],
  svc_internal_error: [500, 'Something unexpected went wrong here.', RETRY],
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
