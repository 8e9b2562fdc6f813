/** What a person is asked before something is done: sentences, from a preview of the call. */

import { siteWord } from '../../../schemas/site-text.js';

export interface Question {
  /** The first sentence is the question; the others say what it does not do, and what cannot be undone. */
  text: string;
  /** A smaller call that may be chosen instead: what it is, and the members of the input that make it smaller. */
  instead?: { words: string; input: Record<string, unknown> };
}

/** `"Novak Law Office", "Silva & Rossi" and 13 more sites`: names in quotes where they are more than a word. */
export function namesOf(names: readonly string[], total = names.length, noun = 'site', most = 3): string {
  const shown = [...new Set(names)].slice(0, total > most ? most - 1 : most).map(siteWord);
  const more = total - shown.length;
  if (shown.length === 0) return counted(total, noun);
  const others = more > 0 ? counted(more, `more ${noun}`) : shown.pop();
  return shown.length === 0 ? `${others}` : `${shown.join(', ')} and ${others}`;
}

/** `1 plugin`, `49 plugins`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Parts joined as in a sentence. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** Sentences in one text, without those that are empty. */
export function sentences(...parts: (string | false | undefined)[]): string {
  return parts.filter((part) => part !== '' && part !== false && part !== undefined).join(' ');
}
