/**
 * The official conformance suite against the product's `/mcp`, for both eras. Known failures are listed with their
 * reason in expected-failures.yml; the suite fails on any other failure, and on an entry that passes.
 */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { type ConformanceServer, startConformanceServer } from './server.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const suite = at('../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const expected = at('./expected-failures.yml');

interface Outcome {
  code: number;
  output: string;
  passed: string[];
  failed: string[];
}

/** What the checks that failed say, which the summary leaves out. */
function failures(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('checks.json'))
    .flatMap((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as Record<string, unknown>[])
    .filter(({ status }) => status === 'FAILURE')
    .map(({ id, errorMessage }) => `${id}: ${errorMessage}`);
}

function run(url: string, revision: string, folder: string): Promise<Outcome> {
  const options = ['server', '--url', url, '--requirements', revision, '--expected-failures', expected, '-o', folder];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', at('./preload.mjs'), suite, ...options],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const summary = stdout.slice(stdout.indexOf('=== SUMMARY ==='));
        const named = (mark: string) =>
          [...summary.matchAll(new RegExp(`^${mark} ([\\w-]+):`, 'gm'))].map((m) => m[1] ?? '');
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({
          code,
          output: [summary, ...(code === 0 ? [] : failures(folder)), stderr].join('\n'),
          passed: named('✓'),
          failed: named('✗'),
        });
      },
    );
  });
}

/** Scenarios of the tasks extension. */
const TASKS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];

describe('the official conformance suite', () => {
  let server: ConformanceServer;
  let folder: string;
  beforeAll(async () => {
    folder = tempFolder('conformance');
    server = await startConformanceServer();
  });
  afterAll(async () => {
    await server.close();
  });

  it.each([
    ['2025-11-25', 32, ['tools-call-elicitation', 'resources-subscribe', 'dns-rebinding-protection']],
    [
      '2026-07-28',
      49,
      ['server-stateless', 'caching', 'input-required-result-tampered-state', 'http-header-validation', ...TASKS],
    ],
  ])('finds nothing unexpected in %s', async (revision, atLeast, among) => {
    const { code, output, passed, failed } = await run(server.url, revision, folder);
    expect([code, output]).toEqual([0, expect.stringContaining('Total:')]);
    expect(passed).toEqual(expect.arrayContaining(among));
    expect(passed.length).toBeGreaterThanOrEqual(atLeast);
    const known = readFileSync(expected, 'utf8');
    for (const name of failed) expect(known).toContain(`  - ${name}\n`);
  });

  it('has a list of expected failures that does not grow', () => {
    const entries = readFileSync(expected, 'utf8').match(/^ {2}- /gm) ?? [];
    expect(entries.length).toBeLessThanOrEqual(2);
  });
});
