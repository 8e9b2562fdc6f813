/**
 * Every error code of the service with its HTTP status. One table for all surfaces: a code never has two statuses.
 * (operations §1.8, §9; REST §2.3)
 */
export const STATUS = {
  // framework
  rest_no_route: 404,
  rest_ability_not_found: 404,
  rest_ability_category_not_found: 404,
  rest_ability_invalid_method: 405,
  rest_method_not_allowed: 405,
  rest_invalid_json: 400,
  rest_invalid_param: 400,
  rest_missing_callback_param: 400,
  rest_forbidden: 401,
  ability_invalid_input: 400,
  ability_invalid_output: 500,
  empty_body: 400,
  invalid_content_type: 415,

  // permissions
  svc_permission_denied: 403,
  svc_access_denied: 403,
  svc_rest_authentication_error: 401,
  svc_rest_authentication_missing_parameter: 401,
  svc_rest_authentication_disabled_key: 401,
  svc_rest_authentication_bad_request: 400,
  svc_rest_insufficient_permission: 403,
  svc_rest_too_many_requests: 429,
  svc_forbidden_origin: 403,
  svc_csrf_refused: 403,

  // unknown or ambiguous names
  svc_site_not_found: 404,
  svc_ambiguous_site: 400,
  svc_client_not_found: 404,
  svc_tag_not_found: 404,
  svc_job_not_found: 404,
  svc_invalid_job_id: 400,
  svc_rest_invalid_site_id: 404,
  svc_rest_invalid_site_data: 404,
  svc_rest_invalid_client_id: 404,
  svc_rest_invalid_client_data: 404,
  svc_rest_monitor_not_found: 404,
  api_key_not_found: 404,
  svc_user_not_found: 404,
  svc_cost_not_found: 404,
  svc_incident_not_found: 404,
  svc_alert_recipient_not_found: 404,
  svc_alert_delivery_not_found: 404,

  // input
  svc_invalid_input: 400,
  svc_invalid_url: 400,
  invalid_period: 400,
  svc_domain_tld_unsupported: 422,
  svc_confirmation_required: 400,
  svc_site_already_exists: 409,
  svc_already_exists: 409,
  svc_module_not_available: 501,
  svc_rest_request_entity_too_large: 413,
  svc_rest_conflict: 409,
  svc_rest_site_exists: 409,
  svc_rest_unique_id_required: 409,
  svc_rest_invalid_plugins_slugs: 400,
  svc_rest_invalid_themes_slugs: 400,
  svc_idempotency_key_reused: 422,
  svc_idempotency_in_progress: 409,

  // failures of the child site
  svc_connection_failed: 503,
  svc_invalid_credentials: 422,
  svc_site_add_failed: 500,
  svc_site_suspended: 409,
  svc_site_disconnected: 409,
  svc_site_on_trial: 409,
  svc_site_offline: 503,
  svc_still_running: 504,
  svc_site_refused: 502,
  svc_child_version_outdated: 400,
  svc_child_error: 502,
  svc_sync_failed: 502,
  svc_sync_in_progress: 409,
  svc_reconnect_failed: 503,
  svc_disconnect_failed: 500,
  svc_suspend_failed: 500,
  svc_check_failed: 503,
  svc_domain_lookup_failed: 502,
  svc_activation_failed: 502,
  svc_deactivation_failed: 502,
  svc_deletion_failed: 500,
  svc_update_failed: 502,
  svc_update_exception: 500,
  svc_no_updates: 404,
  svc_update_rolled_back: 502,
  svc_update_broke_site: 502,
  svc_update_unprotected: 409,
  svc_version_quarantined: 409,
  svc_site_unhealthy: 409,
  svc_snapshot_refused: 409,
  svc_snapshot_not_found: 404,
  svc_change_not_found: 404,
  svc_quarantine_not_found: 404,
  svc_guard_unavailable: 502,
  svc_guard_refused: 409,
  svc_guard_install_failed: 502,
  svc_rest_activate_plugins_action: 502,
  svc_rest_deactivate_plugins_action: 502,
  svc_rest_delete_plugins_action: 502,
  svc_rest_activate_themes_action: 502,
  svc_rest_delete_themes_action: 502,
  svc_rest_updates_site_error: 409,
  svc_rest_upgrade_wp_of_site_error: 502,
  svc_rest_upgrade_plugins_of_site_error: 502,
  svc_rest_upgrade_themes_of_site_error: 502,
  svc_rest_upgrade_translations_of_site_error: 502,

  // posts and comments (REST §6.4, §6.12)
  svc_rest_comment_not_found: 404,
  svc_answer_too_large: 413,
  website_not_found: 404,
  post_not_exist: 404,
  incomplete_date_range: 400,
  invalid_date_range: 400,
  get_post_error: 502,
  create_post_error: 502,
  edit_post_error: 502,
  edit_post_failed: 502,
  update_post_status_error: 502,
  delete_post_error: 502,

  // settings and tools (REST §6.10)
  invalid_backup_config: 400,
  invalid_mail_type: 404,
  invalid_slug: 404,
  duplicate_title: 409,
  no_website_found: 404,
  destroy_session_job_not_found: 404,
  renew_connection_job_not_found: 404,
  disconnect_job_not_found: 404,

  // audits, time tracker
  svc_perf_audit_not_configured: 409,
  svc_time_tracker_task_not_found: 404,
  svc_time_tracker_bucket_not_found: 404,
  svc_time_tracker_bucket_client_mismatch: 400,
  svc_time_tracker_invalid_transition: 409,

  // internal
  svc_client_creation_failed: 500,
  svc_client_update_failed: 500,
  svc_client_deletion_failed: 500,
  svc_operation_failed: 500,
  svc_queue_failed: 500,
  create_key_failed: 500,
  update_key_failed: 500,
  delete_key_failed: 500,
  svc_job_timeout: 500,
  svc_storage_unavailable: 503,
  svc_cancelled: 499,
  svc_internal_error: 500,
} as const;

export type ErrorCode = keyof typeof STATUS;

export interface ErrorDetails {
  /** The input field at fault, as the caller wrote it: `site_ids_or_domains[3]`. */
  field?: string;
  /** What the caller can do next, one sentence. */
  advice?: string;
  /** Further members of the error body's `data`. Never secrets. */
  data?: Record<string, unknown>;
  /** A status other than the table's. Only to distinguish 401 from 403 for the same code (operations §1.8). */
  status?: number;
  cause?: unknown;
}

/** A failure with a code of the catalogue. The message is safe to show to any caller. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly advice: string | undefined;
  readonly data: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.status = details.status ?? STATUS[code];
    this.field = details.field;
    this.advice = details.advice;
    this.data = details.data ?? {};
  }
}

/** The wire form of an error, the same on every surface. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  data: { status: number; field?: string; advice?: string } & Record<string, unknown>;
}

/** The body for a caught value: a ServiceError as it is, anything else as `svc_internal_error` without internals. */
export function errorBody(error: unknown): ErrorBody {
  const known = asServiceError(error);
  return {
    code: known.code,
    message: known.message,
    data: {
      status: known.status,
      ...(known.field === undefined ? {} : { field: known.field }),
      ...(known.advice === undefined ? {} : { advice: known.advice }),
      ...known.data,
    },
  };
}

/** Turns any thrown value into a ServiceError; the original is kept as `cause`, for the log only. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new ServiceError('svc_cancelled', 'The call was cancelled before it finished.', { cause: error });
  }
  const storage = storageFailure(error);
  if (storage !== null) return storage;
  return new ServiceError('svc_internal_error', 'Something unexpected went wrong. The log has the details.', {
    cause: error,
  });
}

/** Message and advice for a storage failure, by the driver's kind. */
const STORAGE: ReadonlyMap<unknown, readonly [message: string, advice: string]> = new Map([
  ['busy', ['The database is busy.', 'Try again in a few seconds.']],
  ['unavailable', ['The database does not answer at the moment.', 'Try again in a few seconds.']],
  ['full', ['The disk of the database is full: nothing can be stored.', 'Free space there; no restart is needed.']],
  [
    'readonly',
    ['The database can only be read, so nothing was stored.', 'Make its file and folder writable for the service.'],
  ],
  [
    'disk',
    [
      'The disk of the database refuses to be written or read.',
      'Look whether it is mounted read-only, or failing; no restart is needed once it is well.',
    ],
  ],
  ['corrupt', ['The database is damaged.', 'Run "sitefleet check"; "sitefleet restore" brings a backup back.']],
]);

/** A typed storage failure that is not the caller's mistake, as `svc_storage_unavailable`; null for anything else. */
export function storageFailure(error: unknown): ServiceError | null {
  // Recognized by its shape: this layer may not import the store's classes.
  if (!(error instanceof Error) || error.name !== 'StorageError' || !('kind' in error)) return null;
  const known = STORAGE.get(error.kind);
  if (known === undefined) return null;
  const [message, advice] =
    'publicMessage' in error && isPublicMessage(error.publicMessage)
      ? [error.publicMessage.message, error.publicMessage.advice]
      : known;
  return new ServiceError('svc_storage_unavailable', message, { advice, cause: error });
}

/**
 * The error as shown to callers without the right to write. Details of a storage failure are for those who can fix it;
 * the log always has them.
 */
export function withoutStorageDetail(error: unknown): unknown {
  const known = asServiceError(error);
  if (known.code !== 'svc_storage_unavailable') return error;
  const advice = 'Try again in a minute; then tell the operator.';
  return new ServiceError(known.code, 'The database does not answer at the moment.', {
    advice,
    cause: known.cause ?? known,
  });
}

function isPublicMessage(value: unknown): value is { message: string; advice: string } {
  return typeof value === 'object' && value !== null && 'message' in value && 'advice' in value;
}

const OURS: ReadonlySet<ErrorCode> = new Set([
  'svc_internal_error',
  'ability_invalid_output',
  'svc_storage_unavailable',
  'svc_operation_failed',
  'svc_queue_failed',
  'svc_client_creation_failed',
  'svc_client_update_failed',
  'svc_client_deletion_failed',
  'svc_update_exception',
]);

/** Whether to log it as a failure of the service, rather than of a site or of the request. */
export function isOurFault(error: ServiceError): boolean {
  return OURS.has(error.code);
}
