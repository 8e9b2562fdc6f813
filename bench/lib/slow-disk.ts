/**
 * A small, throttled disk for one program: ext4 on a loop device, written through, with the kernel's throttle. Needs
 * root on Linux.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GROUPS = '/sys/fs/cgroup/blkio';

export interface SlowDisk {
  folder: string;
  /** Runs a program with this disk limited to this many bytes per second; null = unlimited. Returns its output. */
  run(command: readonly string[], bytesPerSecond: number | null): string;
  close(): void;
}

/** Null where it is not possible. */
export function slowDisk(dir: string, megabytes: number): SlowDisk | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync(join(GROUPS, 'cgroup.procs')))
    return null;
  const image = join(dir, 'slow.img');
  const folder = join(dir, 'slow');
  const group = join(GROUPS, `sitefleet-bench-${process.pid}`);
  mkdirSync(folder);
  closeSync(openSync(image, 'w'));
  truncateSync(image, megabytes * 1024 * 1024);
  try {
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    // Written through: buffered data would be written by the kernel, which is not throttled.
    execFileSync('mount', ['-o', 'loop,sync', image, folder], { stdio: 'pipe' });
    mkdirSync(group);
  } catch {
    spawnSync('umount', [folder]);
    return null;
  }
  const { dev } = statSync(folder);
  const device = `${(dev >> 8) & 0xfff}:${dev & 0xff}`;
  return {
    folder,
    run(command, bytesPerSecond) {
      for (const way of ['read', 'write'])
        writeFileSync(join(group, `blkio.throttle.${way}_bps_device`), `${device} ${bytesPerSecond ?? 0}`);
      // Drops the page cache, so that reads come from the disk.
      spawnSync('sh', ['-c', 'sync; echo 1 > /proc/sys/vm/drop_caches']);
      const inGroup = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
      return execFileSync('sh', ['-c', inGroup, group, ...command], { encoding: 'utf8' });
    },
    close() {
      execFileSync('umount', [folder]);
      rmdirSync(group);
    },
  };
}
