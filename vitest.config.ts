import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    // These catch a hang, and nothing else: no limit of a test is a measurement, and a busy machine takes its time.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 300_000 } },
    // For two cores: half of the time of the longest files goes by waiting. Each further worker costs its imports, 1.5 s of CPU.
    maxWorkers: 6,
    // The files of a worker share its modules: importing the product for each file anew takes half of the CPU time of a run.
    isolate: false,
    // What was translated stays for the next run, by its content: half of the time of a run of a few files.
    experimental: { fsModuleCache: true },
    retry: 0,
    sequence: { sequencer: LongestFirst },
  },
});
