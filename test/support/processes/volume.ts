/** A small mounted volume for a test, where the machine allows mounting: Linux, as root. */

import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Volume {
  /** Mount point. */
  folder: string;
  /** Takes all the remaining space. */
  fill(): void;
  /** Frees it again. */
  drain(): void;
  /** Makes files refuse every change, also through open handles, or allows changes again. `disk` only. */
  protect(names: readonly string[], on: boolean): void;
  close(): void;
}

/** `memory` is a tmpfs; `disk` is ext4 in a file, which can also be write-protected. */
export type VolumeKind = 'memory' | 'disk';

function command(name: string, ...args: string[]): void {
  execFileSync(name, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** @throws Error when mounting is not allowed on this machine */
export function mountVolume(kind: VolumeKind, megabytes: number): Volume {
  const base = mkdtempSync(join(tmpdir(), 'sitefleet-volume-'));
  const folder = join(base, 'mounted');
  const filler = join(folder, 'filler');
  mkdirSync(folder);
  try {
    if (kind === 'memory') command('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder);
    else {
      const image = join(base, 'image');
      closeSync(openSync(image, 'w'));
      truncateSync(image, megabytes * 1024 * 1024);
      command('mkfs.ext4', '-q', '-F', '-m', '0', image);
      command('mount', '-o', 'loop', image, folder);
    }
  } catch (error) {
    rmSync(base, { recursive: true, force: true });
    throw error;
  }
  let mounted = true;
  // Also when the test is interrupted; lazily, because a process may still have a file open there.
  const unmount = () => {
    if (mounted) command('umount', '-l', folder);
    mounted = false;
  };
  process.once('exit', unmount);
  return {
    folder,
    fill: () => fillFile(filler),
    drain: () => rmSync(filler, { force: true }),
    protect: (names, on) => command('chattr', on ? '+i' : '-i', ...names.map((name) => join(folder, name))),
    close() {
      process.off('exit', unmount);
      unmount();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Writes until there is no space for a single byte more. */
function fillFile(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size = Math.floor(size / 4);
      }
    }
  } finally {
    closeSync(file);
  }
}

/** The reason why volumes are not possible here; '' when they are. */
export function volumeMissing(kind: VolumeKind): string {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root, to mount a small volume';
  try {
    const volume = mountVolume(kind, 8);
    try {
      if (kind === 'disk') {
        volume.fill();
        volume.protect(['filler'], true);
        volume.protect(['filler'], false);
      }
    } finally {
      volume.close();
    }
    return '';
  } catch (error) {
    return `mounting is refused here: ${error instanceof Error ? error.message.split('\n').at(-1) : String(error)}`;
  }
}
