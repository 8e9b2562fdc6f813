/**
 * A separate Chromium for one measurement: found, started with an empty profile, and ended with all its child
 * processes.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuditFailure } from './audit.js';

const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome', '/opt/homebrew/bin'];
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'microsoft-edge'];
/** They take a third of the CPU, but an audit should measure the browser that visitors use. */
const SHELLS = ['chromium-headless-shell', 'chrome-headless-shell'];
const PLACES = [
  ...inFolders(NAMES),
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  ...inFolders(SHELLS),
];
const START_MS = 30_000;
const STOP_MS = 5_000;

/** Disables everything a browser does on its own. */
const FLAGS = [
  '--headless=new',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,InterestFeedContentSuggestions,MediaRouter,OptimizationHints,Translate',
  '--disable-sync',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--password-store=basic',
  '--remote-debugging-port=0',
];

/** All traffic goes through the proxy on loopback: no bypass, no local name lookups, nothing outside it over UDP. */
function network(proxyPort: number): string[] {
  return [
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    // The first entry removes the exception for loopback addresses. The names are those that the browser contacts on
    // its own; outside the proxy, no name resolves.
    '--proxy-bypass-list=<-loopback>;clients2.google.com;update.googleapis.com;gaia.invalid',
    '--gaia-url=https://gaia.invalid/',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--dns-prefetch-disable',
    '--disable-quic',
    // WebRTC; the flag's name has changed.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ];
}

function inFolders(names: readonly string[]): string[] {
  return FOLDERS.flatMap((folder) => names.map((name) => `${folder}/${name}`));
}

/** How many run at the same time in a process: each takes some hundred megabytes and most of a processor. */
export const MOST_BROWSERS = 2;

/** Path of an executable Chromium: the configured one, otherwise in the usual places; null if there is none. */
export async function findBrowser(configured: string | null): Promise<string | null> {
  for (const candidate of configured === null ? PLACES : [configured])
    if (await executable(candidate)) return candidate;
  return null;
}

/** Environment of the programs started here: without that of the service, which may contain keys and passwords. */
export function bareEnvironment(home: string): NodeJS.ProcessEnv | undefined {
  // Windows programs need a good part of it to start.
  if (process.platform === 'win32') return undefined;
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, TMPDIR: tmpdir(), LANG: 'C.UTF-8' };
}

async function executable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

export interface Browser {
  /** Port of its debugging interface, on loopback. */
  port: number;
  close(): Promise<void>;
}

/** Starts the browser, whose only way out is a proxy on loopback, and waits until it listens. Throws AuditFailure. */
export async function startBrowser(path: string, proxyPort: number, signal: AbortSignal): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'sitefleet-audit-'));
  // Chromium refuses to run as root inside its sandbox.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const flags = [...FLAGS, ...network(proxyPort), ...sandbox, `--user-data-dir=${profile}`];
  const child = spawn(path, [...flags, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: bareEnvironment(profile),
    // A separate process group: it starts many processes, and all must end.
    detached: process.platform !== 'win32',
  });
  const close = async () => {
    await stop(child);
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(() => undefined);
  };
  try {
    return { port: await listening(child, signal), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function listening(child: ChildProcess, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => reject(new AuditFailure(message, null));
    const timer = setTimeout(() => fail('The browser did not start in time.'), START_MS);
    const aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
    let seen = '';
    child.stderr?.setEncoding('utf8');
    child.stderr?.on('data', (chunk: string) => {
      // Drained for its whole life: a full pipe would stop the browser.
      if (seen.length > 65_536) return;
      seen += chunk;
      const port = /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(seen)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      resolve(Number(port));
    });
    child.once('error', () => fail('The browser could not be started.'));
    child.once('exit', () => fail('The browser ended before it was ready.'));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  send(child.pid, 'SIGTERM');
  const timer = setTimeout(() => send(child.pid, 'SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
  // Helpers that outlived their parent.
  send(child.pid, 'SIGKILL');
}

/** To the whole process group that `spawn` created. */
function send(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, name);
  } catch {
    // Gone already.
  }
}
