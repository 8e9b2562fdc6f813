/** The one form that is ever put before a person, and how its answer is read. */

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

/** Accepting the form without ticking its box is a no. */
export function replyOf(action: unknown, content: unknown): ConfirmationReply {
  if (action === 'accept')
    return (content as { confirm?: unknown } | null | undefined)?.confirm === true ? 'accept' : 'decline';
  return action === 'decline' ? 'decline' : 'cancel';
}
