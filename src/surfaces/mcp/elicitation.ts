/** The form of the only elicitation, which asks the user to confirm, and the interpretation of its result. */

import type { ConfirmationReply } from './confirm.js';

export const CONFIRM_FORM: {
  type: 'object';
  properties: { confirm: { type: 'boolean'; title: string; default: boolean } };
  required: string[];
} = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Yes, do it', default: false } },
  required: ['confirm'],
};

/** Accepting the form without ticking its box is a refusal. */
export function replyOf(action: unknown, content: unknown): ConfirmationReply {
  if (action === 'accept')
    return (content as { confirm?: unknown } | null | undefined)?.confirm === true ? 'accept' : 'decline';
  return action === 'decline' ? 'decline' : 'cancel';
}
