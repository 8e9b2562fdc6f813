/**
 * Pins the client to one processor and the server to another. Two processes that exchange one small message at a time
 * are up to three times as fast while the system keeps both on one processor, which it may do for minutes or not at
 * all: without pinning, the ratio of two pairs depends on where they happened to run.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [CLIENT, SERVER] = processors();

/** Pins the measuring process; false where that is impossible: no Linux, only one processor, or no `taskset`. */
export function placeClient(): boolean {
  return place(process.pid, CLIENT);
}

/** Pins a process with its present threads; threads started later inherit it. */
export function placeServer(pid: number): boolean {
  return place(pid, SERVER);
}

function place(pid: number, processor: number | undefined): boolean {
  if (SERVER === undefined) return false;
  return spawnSync('taskset', ['-a', '-c', '-p', String(processor), String(pid)], { stdio: 'ignore' }).status === 0;
}

/** Numbers of the processors this process may run on, before it is pinned itself. */
function processors(): number[] {
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'utf8');
  } catch {
    return [];
  }
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
