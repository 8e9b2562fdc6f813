/** Work that goes on after its call, inside an assistant: read again until it has ended. */

import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Json, outputOf } from './frame.js';
import type { Host } from './host.js';

interface Paged {
  items: unknown[];
  total: number;
}

/** An answer with the items of its first pages. Rejects with what the tool answered. */
export async function readPages<T extends Paged>(host: Host, tool: string, args: Json, most: number): Promise<T> {
  const items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const answer = (await outputOf(host, tool, { ...args, page })) as unknown as T;
    items.push(...answer.items);
    if (page === most || answer.items.length === 0 || items.length >= answer.total) return { ...answer, items };
  }
}

/** Until a read is repeated that failed. */
const RETRY_MS = 5000;

/**
 * What `read` tells; until then, what is known. A read that fails is repeated: the work goes on meanwhile.
 * @param key of what is read
 * @param wait until it is read again; null = it has ended
 * @param isWhole what is known is all that would be read now
 */
export function usePolled<T>(
  host: Host,
  key: string,
  read: () => Promise<T>,
  wait: (told: T) => number | null,
  known?: T,
  isWhole = false,
): { told: T | undefined; problem: string; look: () => void } {
  const [told, setTold] = useState(known);
  const [problem, setProblem] = useState('');
  const [turn, setTurn] = useState(0);
  const look = useCallback(() => setTurn((turns) => turns + 1), []);
  useEffect(() => {
    if (!host.canCall) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let left = false;
    const waitAfter = (now: T) => {
      const ms = wait(now);
      if (ms !== null) timer = setTimeout(again, ms);
    };
    const again = () =>
      read().then(
        (next) => {
          if (left) return;
          setTold(next);
          setProblem('');
          waitAfter(next);
        },
        (error: Error) => {
          if (left) return;
          setProblem(error.message);
          timer = setTimeout(again, RETRY_MS);
        },
      );
    if (isWhole && known !== undefined && turn === 0) waitAfter(known);
    else void again();
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [key, turn]);
  return { told, problem, look };
}
