/** How programs of the sources are bundled for tests that run them in processes of their own. */

import type { BuildOptions } from 'esbuild';

export const BUNDLED = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  external: ['libsql', '@libsql/client', '@libsql/client/*', 'lighthouse', 'chrome-launcher'],
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  },
  logLevel: 'error',
} satisfies BuildOptions;
