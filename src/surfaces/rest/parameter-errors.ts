/** Validation errors that rows share. */

import { ServiceError } from '../../runtime/errors.js';
import { ownMember } from '../../runtime/own-member.js';

/** Error codes by parameter, for `details` (REST §6.10); some depend on the reason. */
export type InnerCodes = Readonly<Record<string, string | ((reason: string) => string)>>;

/**
 * Invalid parameters, each with its reason: `rest_invalid_param` 400 (REST §2.3).
 * @param unreported number of further invalid parameters
 */
export function invalidParams(
  reasons: Readonly<Record<string, string>>,
  inner: InnerCodes = {},
  unreported = 0,
): ServiceError {
  const names = Object.keys(reasons);
  const more = unreported > 0 ? ` and ${unreported} more` : '';
  // A member has the code of its parameter: `sync_data.themes`, `expected_status[0]`.
  const codeOf = (name: string, reason: string) => {
    const code = ownMember(inner, name.replace(/[.[].*$/s, '')) ?? 'rest_invalid_param';
    return typeof code === 'string' ? code : code(reason);
  };
  return new ServiceError('rest_invalid_param', `Invalid parameter(s): ${names.join(', ')}${more}`, {
    ...(names[0] === undefined ? {} : { field: names[0] }),
    advice: 'data.params has the reason for each. GET /v2/openapi.json describes every parameter.',
    data: {
      params: { ...reasons },
      details: Object.fromEntries(
        Object.entries(reasons).map(([name, message]) => [name, { code: codeOf(name, message), message }]),
      ),
    },
  });
}

/** One invalid parameter; for rules that span several, beyond what a schema can express. `reason` follows the name. */
export function invalidParam(name: string, reason: string): ServiceError {
  return invalidParams({ [name]: reason });
}

/** Missing required parameters (REST §2.3). */
export function missingParams(names: readonly string[]): ServiceError {
  return new ServiceError('rest_missing_callback_param', `Missing parameter(s): ${names.join(', ')}`, {
    ...(names[0] === undefined ? {} : { field: names[0] }),
    advice: 'Send each of them. GET /v2/openapi.json describes every parameter.',
    data: { params: names },
  });
}

/** One failed item of a call on several items (REST §2.1 `errors`). */
export interface ItemError {
  site_id?: number;
  slug?: string;
  id?: number | string;
  code: string;
  message: string;
}
