/** A browser that shows what a test says, and pages for it. */

import type { DemoSite } from '../../src/demo/fleet.js';
import type { Device, Layout, PageLook, Pictures, Pixels } from '../../src/outbound/pictures/pictures.js';
import type { SafetyApp } from './safety-app.js';

export const WORDS = 'these are more than ten words that every visitor of this page can read with ease'.split(' ');
export const SOUND: Layout = {
  status: 200,
  words: WORDS,
  readable: WORDS,
  hidden: 0,
  covered: 0,
  landmarks: ['header', 'nav', 'main', 'footer'],
  menu: 4,
  images: { shown: 3, broken: 0 },
  styles: { rules: { '/themes/acme': 200, '/plugins/shop': 900 }, foreign: 0 },
  overflow: 0,
  failed: [],
  errors: [],
};
export const HIDDEN: Layout = { ...SOUND, readable: WORDS.slice(0, 1), hidden: 20 };

/** Stripes, from this row on; one stripe in two has another width where `other`. */
function pixels(from: number, other: boolean): Pixels {
  const [width, height] = [160, 400];
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let y = from; y < height; y++)
    for (let x = 0; x < width; x++) {
      const stripe = Math.floor((y - from) / 10);
      const dark = stripe % 2 === 0 && x < (other ? 150 - ((stripe * 31) % 130) : 20 + ((stripe * 37) % 130));
      if (dark) data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  return { width, height, data };
}

/** A file that stands for such a picture. */
export function picture(from = 0, other = false): Buffer {
  return Buffer.from(JSON.stringify([from, other]));
}

/** Its first bytes tell that it is WebP. */
const file = Buffer.from('RIFF    WEBPVP8 ').toString('base64');
export const sound: PageLook = { layout: SOUND, file, picture: picture() };

export interface Visit {
  /** Below the address of the site, without what keeps caches away. */
  path: string;
  device: Device;
  /** How often this page was looked at on this device before. */
  nth: number;
  site: DemoSite;
}

/** Of such a file. */
export async function pixelsOf(file: Buffer): Promise<Pixels> {
  return pixels(...(JSON.parse(file.toString()) as [number, boolean]));
}

/** A browser that shows what `show` says, and which browsers were opened and closed. */
export function browser(app: () => Pick<SafetyApp, 'fleet'>, show: (visit: Visit) => PageLook | Promise<PageLook>) {
  const counts = new Map<string, number>();
  const state = { open: 0, opened: 0 };
  const pictures: Pictures = {
    enabled: true,
    pixelsOf,
    open: async ({ address, signal }) => {
      state.open++;
      state.opened++;
      const site = app().fleet.sites.find(({ url }) => address.url.startsWith(url.replace(/\/$/, '')));
      if (site === undefined) throw new Error('another site was looked at');
      const aborted = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      aborted.catch(() => undefined);
      return {
        look: async (url, device) => {
          const path = url.slice(address.url.length).replace(/[?&]sitefleet=\w+$/, '');
          const nth = counts.get(`${path} ${device}`) ?? 0;
          counts.set(`${path} ${device}`, nth + 1);
          return Promise.race([Promise.resolve(show({ path, device, nth, site })), aborted]);
        },
        close: async () => {
          state.open--;
        },
      };
    },
  };
  return { pictures, state };
}
