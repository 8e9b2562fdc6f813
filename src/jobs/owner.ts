/** The name a process holds its leases under, and how to tell that such a process is gone. */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

export function ownerName(): string {
  return `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
}

/** True only for a process of this machine that no longer runs: of others nothing can be known. */
export function isGone(owner: string): boolean {
  const [host, pid] = owner.split('/');
  if (host !== hostname() || pid === undefined || Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
