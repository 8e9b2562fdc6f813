/** Looks at pages with Chromium, whose only way out is the proxy that checks addresses. */

import type { Slots } from '../../runtime/slots.js';
import { findBrowser, startBrowser } from '../audit/browser.js';
import { startProxy } from '../audit/proxy.js';
import type { PrivateReach } from '../public-address.js';
import { DevTools } from './devtools.js';
import {
  type PageLook,
  type PageViewer,
  PictureFailure,
  type Pictures,
  type Pixels,
  type SiteToSee,
} from './pictures.js';
import { type Visits, visitPage } from './visit.js';

interface PicturesParts {
  /** Path of the browser. */
  chromium: string;
  allowPrivate: PrivateReach;
  slots: Slots;
}

export function createPictures(parts: PicturesParts): Pictures {
  return { enabled: true, open: (site) => openViewer(parts, site), pixelsOf };
}

async function pixelsOf(picture: Buffer): Promise<Pixels> {
  const { PNG } = (await import('pngjs')).default;
  return PNG.sync.read(picture);
}

async function openViewer({ chromium, allowPrivate, slots }: PicturesParts, site: SiteToSee): Promise<PageViewer> {
  const { signal } = site;
  const path = await findBrowser(chromium);
  if (path === null) throw new PictureFailure('SITEFLEET_CHROMIUM names no browser');
  const free = await slots.take(site.waitMs, signal);
  if (free === null) throw new PictureFailure('both browsers were busy with other sites');
  const opened: (() => unknown)[] = [free];
  const close = async () => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    const proxy = await startProxy({ allowPrivate });
    opened.push(() => proxy.close());
    const browser = await startBrowser(path, proxy.port, signal);
    opened.push(() => browser.close());
    const tools = await DevTools.connect(browser.port, signal);
    opened.push(() => tools.close());
    const { userAgent } = await tools.send('Browser.getVersion');
    const visits: Visits = { ...site, tools, agent: String(userAgent) };
    const ended = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    ended.catch(() => undefined);
    return { look: (url, device) => inTime(visitPage(visits, url, device), ended, signal), close };
  } catch (error) {
    await close();
    signal.throwIfAborted();
    throw failure(error);
  }
}

/** Ends with the signal, whatever the page does. */
async function inTime(visit: Promise<PageLook>, ended: Promise<never>, signal: AbortSignal): Promise<PageLook> {
  try {
    return await Promise.race([visit, ended]);
  } catch (error) {
    signal.throwIfAborted();
    throw failure(error);
  }
}

function failure(error: unknown): PictureFailure {
  return error instanceof PictureFailure ? error : new PictureFailure('the browser failed', error);
}
