/** A progress bar on stderr on a terminal, nothing elsewhere. */

import { Presets, SingleBar } from 'cli-progress';

export interface Bar {
  step(): void;
  stop(): void;
}

export function progressBar(label: string, total: number): Bar {
  if (!process.stderr.isTTY) return { step() {}, stop() {} };
  const bar = new SingleBar(
    { format: `${label} {bar} {value}/{total} {duration_formatted}`, hideCursor: true, stream: process.stderr },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return { step: () => bar.increment(), stop: () => bar.stop() };
}
