/** Errors of the MCP interface, each with a next step for the model or its user. */

import type { Toolset } from '../../runtime/config/types.js';
import { ServiceError } from '../../runtime/errors.js';

export function cancelled(): ServiceError {
  return new ServiceError('svc_cancelled', 'The call was cancelled before it finished.');
}

export function unknownTool(name: string, closest: readonly string[]): ServiceError {
  return new ServiceError('rest_ability_not_found', `There is no tool ${JSON.stringify(name.slice(0, 100))}.`, {
    advice: closest.length === 0 ? 'tools/list shows all tools.' : `Did you mean ${closest.join(' or ')}?`,
  });
}

/** The tool's toolset is switched off. Says why, so that the assistant can name the setting to change. */
export function toolsetOff(name: string, toolset: Toolset): ServiceError {
  return new ServiceError('svc_permission_denied', `The tool ${name} belongs to a toolset that is disabled here.`, {
    advice: `The operator can add "${toolset}" to SITEFLEET_TOOLSETS.`,
  });
}

/** The operator switched this one tool off. */
export function toolOff(name: string): ServiceError {
  return new ServiceError('svc_permission_denied', `The tool ${name} is disabled here.`, {
    advice: 'The operator can change SITEFLEET_TOOLS_ALLOW and SITEFLEET_TOOLS_BLOCK.',
  });
}

/** The connection's own tool choice excludes the tool. */
export function notChosen(name: string, why: 'toolsets' | 'readonly'): ServiceError {
  const message =
    why === 'readonly'
      ? `The tool ${name} changes something, and this connection is read-only.`
      : `The tool ${name} belongs to a toolset that this connection did not choose.`;
  return new ServiceError('svc_permission_denied', message, {
    advice: `The connection was set up this way, by "${why}" in its URL or headers.`,
  });
}

function unconfirmed(message: string, advice: string, field?: string): ServiceError {
  return new ServiceError('svc_confirmation_required', `${message} Nothing changed.`, {
    ...(field === undefined ? {} : { field }),
    advice,
  });
}

const TOKEN = 'confirmation_token';

const PREVIEW_FIRST =
  'Call with dry_run: true, show the user what would be deleted, then repeat the same call with confirm: true and the confirmation_token of that answer.';

const PREVIEW_FLEET_FIRST =
  'Name the sites, or call with dry_run: true, show the user what would happen, then repeat the same call with the confirmation_token of that answer.';

/** @param destroys whether something would be deleted; otherwise several sites would be changed without being named */
export function tokenNeeded(destroys: boolean): ServiceError {
  return destroys
    ? unconfirmed('This server requires a confirmation_token from a preview.', PREVIEW_FIRST, TOKEN)
    : unconfirmed(
        'No site was named, which means several sites: this server requires a confirmation_token from a preview.',
        PREVIEW_FLEET_FIRST,
        TOKEN,
      );
}

/** Distinguishes only the reasons that help an honest caller. @param destroys as for `tokenNeeded` */
export function tokenRefused(reason: 'used' | 'expired' | 'other', destroys: boolean): ServiceError {
  const messages = {
    used: 'This confirmation was already used.',
    expired: 'This confirmation has expired.',
    other: 'This confirmation is for another call: arguments, login or what would be affected have changed.',
  };
  return unconfirmed(messages[reason], destroys ? PREVIEW_FIRST : PREVIEW_FLEET_FIRST, TOKEN);
}

/** An answer to a request for approval that does not count: the request waits on. */
export function answerRefused(
  { code, message, advice, data }: ServiceError,
  reason: 'used' | 'expired' | 'other',
): ServiceError {
  const why = {
    used: 'The answer was already used.',
    expired: 'The answer came too late.',
    other: 'The answer was to another request: arguments, login or what would be done have changed.',
  };
  return new ServiceError(code, `${why[reason]} ${message}`, { ...(advice === undefined ? {} : { advice }), data });
}

/** The user was asked and did not agree. */
export function notAgreed(outcome: 'decline' | 'cancel' | 'timeout'): ServiceError {
  const messages = {
    decline: 'The user declined.',
    cancel: 'The user dismissed the question.',
    timeout: 'The question was not answered in time.',
  };
  return unconfirmed(
    messages[outcome],
    outcome === 'decline' ? 'Do not repeat the call unless the user asks for it.' : 'Ask the user how to continue.',
  );
}
