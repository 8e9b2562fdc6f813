/**
 * Short messages about the last action. Screen readers announce them, and they disappear by themselves unless something
 * failed.
 */

import { X } from 'lucide';
import { ApiError } from '../api/client.js';
import { createStore, useStore } from '../api/store.js';
import { t } from '../texts/texts.js';
import { Icon } from './icon.js';
import { wordsOf } from './states.js';

interface Toast {
  id: number;
  text: string;
  advice?: string | null;
  bad: boolean;
}

const toasts = createStore<readonly Toast[]>([]);
const SHOWN_MS = 6000;
let count = 0;

function drop(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function showToast(text: string): void {
  count++;
  const id = count;
  toasts.set([...toasts.get().slice(-2), { id, text, bad: false }]);
  setTimeout(() => drop(id), SHOWN_MS);
}

export function showFailure(error: unknown): void {
  count++;
  const advice = error instanceof ApiError && error.status !== 0 ? error.advice : null;
  toasts.set([...toasts.get().slice(-2), { id: count, text: wordsOf(error), advice, bad: true }]);
}

/** Runs an action and shows its outcome; true when it succeeded. */
export async function trying(work: () => Promise<string | null>): Promise<boolean> {
  try {
    const done = await work();
    if (done !== null) showToast(done);
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
      {shown.map(({ id, text, advice, bad }) => (
        <div key={id} class={bad ? 'toast bad' : 'toast'}>
          <div>
            <p>{text}</p>
            {advice && <p class="muted">{advice}</p>}
          </div>
          <button type="button" class="close" aria-label={t.close} onClick={() => drop(id)}>
            <Icon of={X} />
          </button>
        </div>
      ))}
    </div>
  );
}
