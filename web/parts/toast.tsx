/**
 * Short messages about the last action. Screen readers announce them, and they disappear by themselves unless something
 * failed.
 */

import { ApiError } from '../api/client.js';
import { createStore, useStore } from '../api/store.js';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { Icon } from './icon.js';
import { Undo2, X } from './icons.js';
import { wordsOf } from './states.js';

interface Toast {
  id: number;
  text: string;
  /** Takes the action back. */
  undo?: Undo;
  advice?: string | null;
  bad: boolean;
}

/** Reverses an action; the text tells that it did. */
export type Undo = () => Promise<string>;

const toasts = createStore<readonly Toast[]>([]);
const SHOWN_MS = 6000;
/** Long enough to read it and to reach the button. */
const UNDO_MS = 10_000;
let count = 0;

function drop(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function showToast(text: string, undo?: Undo): void {
  count++;
  const id = count;
  toasts.set([...toasts.get().slice(-2), { id, text, bad: false, ...(undo && { undo }) }]);
  setTimeout(() => drop(id), undo === undefined ? SHOWN_MS : UNDO_MS);
}

export function showFailure(error: unknown): void {
  count++;
  const advice = error instanceof ApiError && error.status !== 0 ? error.advice : null;
  toasts.set([...toasts.get().slice(-2), { id: count, text: wordsOf(error), advice, bad: true }]);
}

/** Runs an action and shows its outcome, for ten seconds with a button that takes it back; true when it succeeded. */
export async function trying(work: () => Promise<string | null>, undo?: Undo): Promise<boolean> {
  try {
    const done = await work();
    if (done !== null) showToast(done, undo);
    return true;
  } catch (error) {
    showFailure(error);
    return false;
  }
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, advice, bad, undo }) => (
        <div key={id} class={bad ? 'toast bad' : 'toast'}>
          <div>
            <p>{text}</p>
            {advice && <p class="muted">{advice}</p>}
          </div>
          {undo && (
            <Button
              small
              icon={Undo2}
              onClick={() => {
                drop(id);
                return trying(undo);
              }}
            >
              {t.undo}
            </Button>
          )}
          <button type="button" class="close" aria-label={t.close} onClick={() => drop(id)}>
            <Icon of={X} />
          </button>
        </div>
      ))}
    </div>
  );
}
