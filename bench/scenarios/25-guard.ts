/** The guard's copy of a 50 MB plugin, and restoring it, by real PHP on a disk as slow as that of a cheap host. */

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { slowDisk } from '../lib/slow-disk.js';

const RUN = fileURLToPath(new URL('../../../guard/test/run.php', import.meta.url));
const FILES = 500;
const BYTES = 100 * 1024;
const MEGABYTE = 1024 * 1024;

export const scenario: Scenario = {
  number: 25,
  name: 'guard',
  title: 'Snapshot and restore of a plugin of 50 MB in 500 files, by the disk',
  async run({ quick, dir }): Promise<Measure[]> {
    if (spawnSync('php', ['-v']).status !== 0) return [];
    const disk = slowDisk(dir, 400);
    const speeds = disk === null ? [null] : quick ? [50 * MEGABYTE] : [null, 50 * MEGABYTE, 20 * MEGABYTE];
    const rows: Measure[] = [];
    try {
      for (const [index, speed] of speeds.entries()) {
        const base = join(disk?.folder ?? dir, `site-${index}`);
        writePlugin(join(base, 'wp-content/plugins/large'));
        const command = ['php', RUN, 'time', base, 'large/large.php'];
        const text = disk === null ? String(spawnSync('php', command.slice(1)).stdout) : disk.run(command, speed);
        const times = JSON.parse(text) as { snapshot?: number; restore?: number };
        if (times.snapshot === undefined || times.restore === undefined) throw new Error(`The guard refused: ${text}`);
        rmSync(base, { recursive: true });
        const on = speed === null ? 'its own disk' : `${speed / MEGABYTE} MB a second`;
        for (const what of ['snapshot', 'restore'] as const)
          rows.push(
            figure(`${what} of 50 MB on ${on}, seconds`, { atMost: 60 }, [times[what] ?? Number.NaN], `${FILES} files`),
          );
      }
    } finally {
      disk?.close();
    }
    return rows;
  },
};

function writePlugin(folder: string): void {
  for (let i = 0; i < FILES; i++) {
    const file = join(folder, `part-${i % 20}`, `${i}.bin`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, randomBytes(BYTES));
  }
  writeFileSync(join(folder, 'large.php'), '<?php\n/*\nPlugin Name: Large\nVersion: 1.0\n*/\n');
}
