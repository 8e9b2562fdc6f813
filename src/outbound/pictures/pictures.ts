/**
 * The port for looking at pages as people see them: pictures, and what a browser knows of the layout. `create.ts`
 * implements it with Chromium.
 */

import type { ChildAddress } from '../child/port.js';

/** A width at which pages are looked at. */
export type Device = 'desktop' | 'phone';

/** Parts that themes have, by their elements, roles and usual names. */
type Landmark = 'header' | 'nav' | 'main' | 'footer';

/** What a browser made of a page. Texts are the site's: shown through `siteWord` only. */
export interface Layout {
  /** Status of the document; 0 = unknown. */
  status: number;
  /** Distinct words in the page, and those of them that can be read: neither hidden, outside of the page nor covered. */
  words: readonly string[];
  readable: readonly string[];
  /** How many pieces of text are hidden, and how many covered by something else. */
  hidden: number;
  covered: number;
  landmarks: readonly Landmark[];
  /** Links of menus that can be seen. */
  menu: number;
  /** Pictures of the site's own host that are shown, and how many of them have nothing to show. */
  images: { shown: number; broken: number };
  /**
   * Rules in the site's own style sheets, by the folder of their theme or plugin, without those of WordPress itself; and
   * how many sheets come from other hosts.
   */
  styles: { rules: Readonly<Record<string, number>>; foreign: number };
  /** Pixels by which the page is wider than the window. */
  overflow: number;
  /** Own scripts, styles, fonts and pictures that were not delivered: paths without parameters. */
  failed: readonly string[];
  /** Errors of own scripts, without figures: these differ in each look. */
  errors: readonly string[];
}

/** A picture as rows of pixels, four bytes each: red, green, blue, opacity. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

/** One look at a page. The picture has half the size of the window. */
export interface PageLook {
  layout: Layout;
  /** The exact picture (PNG): a tenth of its pixels, as it is held while a site is updated. */
  picture: Buffer;
  /** The same as a small file to keep (WebP, in base64). */
  file: string;
}

/** A site, and until when it is looked at. */
export interface SiteToSee {
  address: ChildAddress;
  /** When the clocks of the pages begin, so that all looks see the same time. */
  startMs: number;
  /** Cookies that have caches spare the visit: name → value. */
  cookies: Readonly<Record<string, string>>;
  /** How long a free browser is waited for. */
  waitMs: number;
  signal: AbortSignal;
}

/** A browser for one site. */
export interface PageViewer {
  /** Loads the page as a new visitor. Rejects with `PictureFailure`, or with the signal's reason. */
  look(url: string, device: Device): Promise<PageLook>;
  close(): Promise<void>;
}

export interface Pictures {
  /** False: no look is intended. */
  readonly enabled: boolean;
  /** Rejects with `PictureFailure`, or with the signal's reason. */
  open(site: SiteToSee): Promise<PageViewer>;
  /** Decodes the picture of a look. */
  pixelsOf(picture: Buffer): Promise<Pixels>;
}

/** A page that could not be looked at. The message is a part of a sentence that is safe to show. */
export class PictureFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PictureFailure';
  }
}

/** No pictures are taken. */
export function noPictures(): Pictures {
  const none = () => Promise.reject(new PictureFailure('pictures are disabled'));
  return { enabled: false, open: none, pixelsOf: none };
}
