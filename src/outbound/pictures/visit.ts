/** One look at a page in a tab of its own: visited as a new visitor, stilled, measured and taken. */

import type { ChildAddress } from '../child/port.js';
import { loginHeader } from '../http-login.js';
import type { DevTools, Fields } from './devtools.js';
import { MEASURED, SETTLED, stillness, UNLOADED } from './in-page.js';
import { type Device, type Layout, type PageLook, PictureFailure } from './pictures.js';

/** Tall, so that what is loaded when it comes into view is there. The picture has half the size. */
const WINDOWS: Readonly<Record<Device, { width: number; height: number; mobile: boolean }>> = {
  desktop: { width: 1280, height: 1600, mobile: false },
  phone: { width: 390, height: 1600, mobile: true },
};
const SCALE = 0.5;
/** Of the file that is kept: one of a usual page has 20 to 40 KB. */
const QUALITY = 50;
const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/';
/** How long the files of a page are waited for. */
const LOAD_MS = 5_000;
const MOST_NOTED = 20;
const LONGEST = 200;
/** Longer addresses are not remembered: a page may ask for hundreds, of two million letters each. */
const LONGEST_ADDRESS = 2_000;

/** What the looks of one site share. */
export interface Visits {
  tools: DevTools;
  address: ChildAddress;
  cookies: Readonly<Record<string, string>>;
  /** When the clocks of all looks begin. */
  startMs: number;
  /** The browser's own name for itself. */
  agent: string;
}

/** Visits one page. */
export async function visitPage(visits: Visits, url: string, device: Device): Promise<PageLook> {
  const { tools } = visits;
  // Of its own: what one look stores is not there in the next.
  const { browserContextId } = await tools.send('Target.createBrowserContext', { disposeOnDetach: true });
  try {
    const { targetId } = await tools.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await tools.send('Target.attachToTarget', { targetId, flatten: true });
    await tools.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId });
    try {
      return await inTab(visits, String(sessionId), url, device);
    } finally {
      tools.forget(String(sessionId));
    }
  } finally {
    await tools.send('Target.disposeBrowserContext', { browserContextId }).catch(() => undefined);
  }
}

async function inTab(visits: Visits, session: string, url: string, device: Device): Promise<PageLook> {
  const { tools } = visits;
  const send = (method: string, params: Fields = {}) => tools.send(method, params, session);
  const notes = noted(visits, session, url);
  const { width, height, mobile } = WINDOWS[device];
  const loaded = new Promise<void>((resolve) => tools.on(session, 'Page.loadEventFired', () => resolve()));
  tools.on(session, 'Page.javascriptDialogOpening', () => {
    send('Page.handleJavaScriptDialog', { accept: false }).catch(() => undefined);
  });
  await Promise.all([
    send('Page.enable'),
    send('Runtime.enable'),
    send('Network.enable'),
    send('Network.setBypassServiceWorker', { bypass: true }),
    send('Network.setBlockedURLs', { urls: UNLOADED }),
    send('Network.setUserAgentOverride', { userAgent: agentOf(visits.agent, device) }),
    send('Network.setCookies', {
      cookies: Object.entries(visits.cookies).map(([name, value]) => ({ name, value, url })),
    }),
    send('Emulation.setDeviceMetricsOverride', { width, height, mobile, deviceScaleFactor: 1 }),
    // They fade in and out.
    send('Emulation.setScrollbarsHidden', { hidden: true }),
    send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] }),
    send('Page.addScriptToEvaluateOnNewDocument', { source: stillness(visits.startMs) }),
    ...(visits.address.ssl_verify ? [] : [send('Security.setIgnoreCertificateErrors', { ignore: true })]),
    ...logIn(visits, session),
  ]);
  const { errorText } = await send('Page.navigate', { url });
  if (errorText !== undefined) throw new PictureFailure(`the page could not be opened (${errorText})`);
  await inTime(loaded);
  await evaluated(send, SETTLED);
  const measured = JSON.parse(String(await evaluated(send, MEASURED))) as Omit<Layout, keyof typeof notes>;
  if (isRefusal(notes.status, measured))
    throw new PictureFailure(`the page could not be opened (HTTP ${notes.status})`);
  const clip = { x: 0, y: 0, width, height, scale: SCALE };
  const taken = async (format: object) => String((await send('Page.captureScreenshot', { clip, ...format })).data);
  const exact = await taken({ format: 'png', optimizeForSpeed: true });
  const file = await taken({ format: 'webp', quality: QUALITY });
  return { layout: { ...measured, ...notes }, picture: Buffer.from(exact, 'base64'), file };
}

/**
 * Whether there was no page: a login is asked for, or an error has nothing to show, as those of the proxy. A browser with windows says so
 * itself; one without shows an empty page.
 */
function isRefusal(status: number, { words, images }: Pick<Layout, 'words' | 'images'>): boolean {
  return status === 401 || (status >= 400 && words.length === 0 && images.shown === 0);
}

/** A page that still waits for something then is seen as people see it. */
async function inTime(loaded: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LOAD_MS);
  });
  await Promise.race([loaded, late]);
  clearTimeout(timer);
}

/** In a world of its own: what a page has put in place of JavaScript's functions would answer whatever it likes, of any size. */
async function evaluated(send: (method: string, params?: Fields) => Promise<Fields>, expression: string) {
  const { frameTree } = await send('Page.getFrameTree');
  const { id: frameId } = (frameTree as { frame: Fields }).frame;
  const { executionContextId: contextId } = await send('Page.createIsolatedWorld', { frameId });
  const answer = await send('Runtime.evaluate', { contextId, expression, awaitPromise: true, returnByValue: true });
  if (answer.exceptionDetails !== undefined) throw new PictureFailure('the page could not be measured');
  return (answer.result as { value?: unknown }).value;
}

/** What the network and the console say meanwhile; filled while the page is loaded. */
function noted({ tools }: Visits, session: string, url: string): Pick<Layout, 'status' | 'failed' | 'errors'> {
  const notes = { status: 0, failed: [] as string[], errors: [] as string[] };
  let { host } = new URL(url);
  const asked = new Map<string, string>();
  const note = (list: string[], text: string) => {
    if (list.length < MOST_NOTED && !list.includes(text)) list.push(text);
  };
  const KINDS = ['Stylesheet', 'Script', 'Image', 'Font'];
  const missing = (address: string) => {
    const at = address.length <= LONGEST_ADDRESS && URL.canParse(address) ? new URL(address) : null;
    if (at?.host === host) note(notes.failed, at.pathname.slice(0, LONGEST));
  };
  tools.on(session, 'Network.requestWillBeSent', ({ requestId, request, type }) => {
    const address = String((request as Fields).url);
    if (KINDS.includes(String(type)) && address.length <= LONGEST_ADDRESS) asked.set(String(requestId), address);
  });
  tools.on(session, 'Network.responseReceived', ({ response, type }) => {
    const { status, url: from } = response as { status: number; url: string };
    if (type === 'Document' && notes.status === 0) {
      notes.status = status;
      // The site may lead to another name of its own.
      ({ host } = new URL(from));
    }
    if (KINDS.includes(String(type)) && status >= 400) missing(from);
  });
  tools.on(session, 'Network.loadingFailed', ({ requestId, canceled }) => {
    const from = asked.get(String(requestId));
    if (from !== undefined && canceled !== true) missing(from);
  });
  tools.on(session, 'Runtime.exceptionThrown', ({ exceptionDetails }) => {
    const {
      exception,
      text,
      url: from = '',
    } = exceptionDetails as {
      exception?: { description?: string };
      text?: string;
      url?: string;
    };
    if (from !== '' && (!URL.canParse(from) || new URL(from).host !== host)) return;
    const said = (exception?.description ?? text ?? '').split('\n')[0] ?? '';
    note(notes.errors, said.replace(/\d+/g, '0').slice(0, LONGEST));
  });
  return notes;
}

/** Answers with the login of the site, and only to its own server. */
function logIn({ tools, address }: Visits, session: string): Promise<Fields>[] {
  const { http_user, http_pass, url } = address;
  if (http_user === null || http_user === '') return [];
  const go = (method: string, params: Fields) => tools.send(method, params, session).catch(() => undefined);
  tools.on(session, 'Fetch.requestPaused', ({ requestId }) => void go('Fetch.continueRequest', { requestId }));
  tools.on(session, 'Fetch.authRequired', ({ requestId, authChallenge, request }) => {
    const { source } = authChallenge as { source?: string };
    const to = new URL(String((request as Fields).url));
    const own = source === 'Server' && 'authorization' in loginHeader(address, new URL(url), to);
    const credentials = { response: 'ProvideCredentials', username: http_user, password: http_pass ?? '' };
    void go('Fetch.continueWithAuth', {
      requestId,
      authChallengeResponse: own ? credentials : { response: 'CancelAuth' },
    });
  });
  return [tools.send('Fetch.enable', { handleAuthRequests: true }, session)];
}

function agentOf(own: string, device: Device): string {
  const visible = own.replace('HeadlessChrome', 'Chrome');
  if (device === 'desktop') return visible;
  const version = /Chrome\/([\d.]+)/.exec(visible)?.[1] ?? '120.0.0.0';
  return `${ANDROID}${version} Mobile Safari/537.36`;
}
