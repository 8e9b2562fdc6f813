/**
 * A processor for who asks and another for who answers. Two processes that exchange one small message at a time are up to
 * three times as fast while the system keeps both on one processor, and it does that for minutes or not at all: without a
 * place for each, the ratio of two such pairs tells where they happened to run.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [CLIENT, SERVER] = processors();

/** Places the process that measures; false where that cannot be done: no Linux, one processor, no `taskset`. */
export function placeClient(): boolean {
  return place(process.pid, CLIENT);
}

/** Places a process with the threads that it has; those it starts later stay with it. */
export function placeServer(pid: number): boolean {
  return place(pid, SERVER);
}

function place(pid: number, processor: number | undefined): boolean {
  if (SERVER === undefined) return false;
  return spawnSync('taskset', ['-a', '-c', '-p', String(processor), String(pid)], { stdio: 'ignore' }).status === 0;
}

/** Numbers of those this process may run on, before it is placed itself. */
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
