/** Answers of many megabytes, which wait in memory until their caller has read them: a few of each caller at a time. */

import { ServiceError } from '../../runtime/errors.js';

const AT_ONCE = 3;
const RETRY_AFTER_S = 5;

export interface LargeAnswers {
  /** Begins one. Returns what ends it. Throws `svc_rest_too_many_requests` with `data.retry_after` in seconds. */
  begin(principal: string): () => void;
}

export function createLargeAnswers(): LargeAnswers {
  const unread = new Map<string, number>();
  return {
    begin(principal) {
      const others = unread.get(principal) ?? 0;
      if (others >= AT_ONCE) throw tooMany();
      unread.set(principal, others + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (unread.get(principal) ?? 1) - 1;
        if (left > 0) unread.set(principal, left);
        else unread.delete(principal);
      };
    },
  };
}

function tooMany(): ServiceError {
  return new ServiceError(
    'svc_rest_too_many_requests',
    `${AT_ONCE} large answers of this key have not been read yet.`,
    {
      advice: 'Read those first.',
      data: { retry_after: RETRY_AFTER_S },
    },
  );
}
