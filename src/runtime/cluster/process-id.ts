/** Process ids: the name under which a process holds its leases, and whether such a process still runs. */

import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Where a process id is valid: it identifies a process only within one boot of one machine and one PID namespace. */
export interface ProcessLocation {
  host: string;
  /** Ids of this boot of the machine and of the PID namespace; null if unknown, as on systems other than Linux. */
  boot: string | null;
  pids: string | null;
  pid: number;
}

/** Where this process runs. Containers may share the host name or the boot, but not the PID namespace. */
export function processLocation(): ProcessLocation {
  return {
    host: hostname(),
    boot: unlessMissing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pids: unlessMissing(() => /\[(\d+)\]/.exec(readlinkSync('/proc/self/ns/pid'))?.[1] ?? null),
    pid: process.pid,
  };
}

const here = processLocation();

/** `host/pid/boot/namespace/random`; `-` for unknown parts. */
export function processId({ host, boot, pids, pid }: ProcessLocation = here): string {
  return [host, pid, boot ?? '-', pids ?? '-', randomUUID().slice(0, 8)].join('/');
}

/**
 * True only for a process of this boot and PID namespace that no longer runs: nothing can be known of others. If boot
 * and namespace are unknown, no process is declared dead, and leases lapse over time.
 */
export function isProcessGone(owner: string, location: ProcessLocation = here): boolean {
  const [host, pid, boot, pids, random] = owner.split('/');
  if (location.boot === null || location.pids === null || random === undefined) return false;
  if (host !== location.host || boot !== location.boot || pids !== location.pids) return false;
  const id = Number(pid);
  if (!Number.isSafeInteger(id) || id <= 0 || id === location.pid) return false;
  try {
    process.kill(id, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function unlessMissing(read: () => string | null): string | null {
  try {
    return read() || null;
  } catch {
    return null;
  }
}
