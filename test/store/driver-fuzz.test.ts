import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SOAK } from '../robustness/soak.js';
import { tracked } from '../support/cleanup.js';
import { bundledPrograms } from '../support/processes/bundle.js';

async function run(seed: number, milliseconds: number) {
  const child = join(await bundledPrograms(), 'driver-fuzz-child.js');
  return new Promise<{ code: number | null; signal: string | null; out: string; err: string }>((done) => {
    const process_ = tracked(spawn(process.execPath, [child, String(seed), String(milliseconds)]));
    let out = '';
    let err = '';
    process_.stdout.on('data', (chunk) => {
      out += chunk;
    });
    process_.stderr.on('data', (chunk) => {
      err += chunk;
    });
    process_.once('close', (code, signal) => done({ code, signal, out, err }));
  });
}

// A fixed seed gives the same result every time; the soak test uses new ones.
it.each([1, SOAK ? Date.now() % 2 ** 31 : 2])(
  'random arguments, methods and orders neither abort the process nor give a wrong answer (seed %i)',
  async (seed) => {
    const { code, signal, out, err } = await run(seed, 1000);
    expect({ code, signal, err: err.slice(-500), out: code === 0 ? '' : out }).toEqual({
      code: 0,
      signal: null,
      err: '',
      out: '',
    });
    const { done } = JSON.parse(out) as { done: Record<string, number> };
    expect(Object.keys(done)).toHaveLength(16);
    for (const [step, times] of Object.entries(done)) expect(times, step).toBeGreaterThan(0);
  },
);
