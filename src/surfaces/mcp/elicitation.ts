/** The form by which the user is asked to confirm or approve, and the interpretation of its result. */

import type { Asked, ConfirmationReply } from './confirm.js';

// A type alias, not an interface: the SDKs want an index signature.
type ConfirmForm = {
  type: 'object';
  properties: {
    confirm: { type: 'boolean'; title: string; default: boolean };
    which?: { type: 'string'; title: string; enum: string[]; default: string };
  };
  required: string[];
};

const ALL = 'all of it';

export function confirmForm({ about, instead }: Pick<Asked, 'about' | 'instead'>): ConfirmForm {
  const title = about === 'approval' ? 'Yes, I approve it' : 'Yes, do it';
  return {
    type: 'object',
    properties: {
      confirm: { type: 'boolean', title, default: false },
      ...(instead === undefined
        ? {}
        : { which: { type: 'string', title: 'What', enum: [ALL, instead], default: ALL } }),
    },
    required: ['confirm'],
  };
}

/** Accepting the form without ticking its box is a refusal, and so is a choice that is none of its two. */
export function replyOf(action: unknown, content: unknown, instead?: string): ConfirmationReply {
  if (action !== 'accept') return { outcome: action === 'decline' ? 'decline' : 'cancel' };
  const { confirm, which = ALL } = (content ?? {}) as { confirm?: unknown; which?: unknown };
  const isChoice = which === ALL || (instead !== undefined && which === instead);
  return confirm === true && isChoice ? { outcome: 'accept', instead: which !== ALL } : { outcome: 'decline' };
}
