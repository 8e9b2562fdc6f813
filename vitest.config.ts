import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // For two cores: half of the time of the longest files goes by waiting. Each further worker costs its imports, 1.5 s of CPU.
    maxWorkers: 6,
    // The files of a worker share its modules: importing the product for each file anew takes half of the CPU time of a run.
    isolate: false,
    // What was translated stays for the next run, by its content: half of the time of a run of a few files.
    experimental: { fsModuleCache: true },
    // A shared machine may stall for seconds. In CI a failed test gets a second try, which the report shows; here it does not.
    retry: process.env.CI === 'true' ? 1 : 0,
    sequence: { sequencer: LongestFirst },
  },
});
