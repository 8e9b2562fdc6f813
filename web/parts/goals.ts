/** What the search of the keyboard can go to or do, and which of it fits the words that were typed. */

export interface Goal {
  word: string;
  /** What kind of thing it is. */
  about: string;
  /** An address, or what to do. */
  to: string | (() => unknown);
  /** The address is one of the service, not of the page. */
  outside?: boolean;
  /** Comes after all others that fit. */
  late?: boolean;
  /** Offered before anything is typed. */
  first?: boolean;
}

/**
 * The goals in which each typed word begins a word: the late ones last, before that those that begin with what was typed
 * first, otherwise in their order.
 * @param typed in lower case; '' = what is offered first
 */
export function fitting(goals: readonly Goal[], typed: string, most: number): Goal[] {
  if (typed === '') return goals.filter(({ first }) => first);
  const words = typed.split(/\s+/);
  const found = goals.flatMap((goal) => {
    const text = goal.word.toLowerCase();
    const parts = text.split(/[^\p{L}\p{N}.]+/u);
    if (!words.every((word) => parts.some((part) => part.startsWith(word)))) return [];
    return [{ goal, rank: (goal.late ? 2 : 0) + (text.startsWith(typed) ? 0 : 1) }];
  });
  return found
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ goal }) => goal);
}
