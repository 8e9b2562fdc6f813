/** The texts in the reader's language; English where it is not available. */

import { en } from './en.js';

export type Texts = typeof en;

export let t: Texts = en;

/** Languages besides English; each is loaded only for its readers. */
const OTHERS: Readonly<Record<string, () => Promise<{ texts: Texts }>>> = {};

/** Call once, before anything is shown. */
export async function chooseTexts(): Promise<void> {
  for (const language of navigator.languages) {
    const name = language.split('-', 1)[0] ?? '';
    if (name === 'en') break;
    const load = OTHERS[name];
    if (load === undefined) continue;
    t = (await load()).texts;
    break;
  }
  document.documentElement.lang = t.language;
}
