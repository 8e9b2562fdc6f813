/**
 * Runs Lighthouse on this machine in a separate process: it is large, and a page that crashes it must not affect the
 * service.
 */

import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { withTimeLimit } from '../../runtime/abort-signals.js';
import type { Slots } from '../../runtime/slots.js';
import { StepFailure } from '../probe/failure.js';
import { hostOf, Names } from '../probe/names.js';
import type { PrivateReach } from '../public-address.js';
import { AuditFailure, type AuditOutcome, type AuditRequest } from './audit.js';
import { bareEnvironment, findBrowser, startBrowser } from './browser.js';
import { findLighthouse } from './find-lighthouse.js';
import { type AuditProxy, startProxy } from './proxy.js';
import { outcomeOf } from './result.js';

const RUN_MS = 150_000;
/** For a browser, while pages are looked at during updates. */
const WAIT_MS = 60_000;
const RETRY_MS = 10 * 60_000;
const MAX_RESULT = 64 * 1024 * 1024;

export interface LighthouseParts {
  /** Configured path of Lighthouse; null = the usual places. */
  lighthouse: string | null;
  /** Configured path of the browser; null = the usual places. */
  chromium: string | null;
  allowPrivate: PrivateReach;
  /** Shared with all that start browsers. */
  slots: Slots;
}

/** Null if it can run here, otherwise advice. */
export async function missingForLighthouse({ lighthouse, chromium }: LighthouseParts): Promise<string | null> {
  if ((await findLighthouse(lighthouse)) === null)
    return lighthouse === null
      ? 'install Lighthouse with "npm install --global lighthouse@12.8.2", or name it in SITEFLEET_LIGHTHOUSE'
      : 'correct SITEFLEET_LIGHTHOUSE: it names neither the command nor the folder of Lighthouse';
  if ((await findBrowser(chromium)) !== null) return null;
  return chromium === null
    ? 'install Chromium, or name it in SITEFLEET_CHROMIUM'
    : 'correct SITEFLEET_CHROMIUM: the file it names cannot be executed';
}

export async function runLighthouse(parts: LighthouseParts, request: AuditRequest): Promise<AuditOutcome> {
  const [cli, browserPath] = await Promise.all([findLighthouse(parts.lighthouse), findBrowser(parts.chromium)]);
  if (cli === null || browserPath === null)
    throw new AuditFailure('Lighthouse or Chromium is not installed on this server.', null);
  await requireReachable(request.url, parts.allowPrivate);
  const free = await parts.slots.take(WAIT_MS, request.signal);
  if (free === null) throw new AuditFailure('All browsers of this process are busy.', RETRY_MS);
  try {
    return await runInBrowser(parts, cli, browserPath, request);
  } finally {
    free();
  }
}

async function runInBrowser(
  { allowPrivate }: LighthouseParts,
  cli: string,
  browserPath: string,
  request: AuditRequest,
): Promise<AuditOutcome> {
  const signal = withTimeLimit(request.signal, RUN_MS);
  const proxy = await startProxy({ allowPrivate });
  try {
    return await measureThrough(proxy, cli, browserPath, request, signal);
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    if (error instanceof AuditFailure) throw error;
    const message = signal.aborted ? 'The measurement took too long.' : 'The measurement failed.';
    throw new AuditFailure(message, RETRY_MS, error);
  } finally {
    await proxy.close();
  }
}

/**
 * Checks the site's own address before a browser is started in vain; addresses that it leads to are checked by the
 * proxy.
 */
async function requireReachable(url: string, allowPrivate: PrivateReach): Promise<void> {
  await new Names({ allowPrivate }).resolve(hostOf(new URL(url))).catch((error: unknown) => {
    if (error instanceof StepFailure && error.kind === 'blocked_address') throw new AuditFailure(error.message, null);
    throw new AuditFailure("The site's host is unknown.", RETRY_MS, error);
  });
}

async function measureThrough(
  proxy: AuditProxy,
  cli: string,
  browserPath: string,
  request: AuditRequest,
  signal: AbortSignal,
): Promise<AuditOutcome> {
  const browser = await startBrowser(browserPath, proxy.port, signal);
  let text: string;
  try {
    text = await measure(cli, browser.port, request, signal);
  } finally {
    await browser.close();
  }
  try {
    return outcomeOf(parsed(text), 'lighthouse');
  } catch (error) {
    const refusal = proxy.refusal();
    if (!(error instanceof AuditFailure) || refusal === null) throw error;
    // Most likely the page leads there; Lighthouse only knows that there was no page.
    throw new AuditFailure(`${error.message} ${refusal}`, error.retryAfterMs, error);
  }
}

function measure(cli: string, port: number, request: AuditRequest, signal: AbortSignal): Promise<string> {
  const options = [
    request.url,
    '--output=json',
    '--output-path=stdout',
    '--quiet',
    '--no-enable-error-reporting',
    '--disable-full-page-screenshot',
    '--only-categories=performance,accessibility,best-practices,seo',
    '--max-wait-for-load=45000',
    `--port=${port}`,
    `--locale=${request.locale}`,
    ...(request.strategy === 'desktop' ? ['--preset=desktop'] : []),
  ];
  return new Promise((resolve, reject) => {
    const env = bareEnvironment(tmpdir());
    const child = spawn(process.execPath, [cli, ...options], { stdio: ['ignore', 'pipe', 'pipe'], signal, env });
    const parts: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= MAX_RESULT) parts.push(part);
      else child.kill();
    });
    let last = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      last = (last + chunk).slice(-2000);
    });
    child.once('error', reject);
    // It exits with 1 if the page could not be measured, with the reason in its result.
    child.once('close', () =>
      parts.length > 0 ? resolve(Buffer.concat(parts).toString('utf8')) : reject(new Error(last)),
    );
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new AuditFailure('The measurement gave an unreadable result.', RETRY_MS, error);
  }
}
