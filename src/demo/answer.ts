import type { Answer } from './http-answer.js';
import type { Params } from './params.js';
import type { DemoSite } from './site.js';
import type { SiteState, UserState } from './state.js';
import { say, type TextKey } from './texts.js';

/** One verified call of a child function. */
export interface Call {
  site: DemoSite;
  /** The site's content; reading it does not count as a change. */
  state: SiteState;
  params: Params;
  /** The WordPress user the call acts as; nobody when `user` was left out (child protocol §2.2). */
  user: UserState | undefined;
  /** Unix seconds. */
  now: number;
  tls: boolean;
}

export type ChildFunction = (call: Call) => unknown;

/** An answer already framed, for a function that keeps its text. */
export class Framed {
  readonly body: Buffer;

  constructor(body: Buffer) {
    this.body = body;
  }
}

/** An error the plugin itself reports: HTTP 200 with an error frame (child protocol §1.1). */
export class ChildError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }

  static of(site: DemoSite, key: TextKey, code?: string): ChildError {
    return new ChildError(say(site.inner.language, key), code);
  }
}

/** PHP died: HTTP 500 and no frame. */
export class Crash extends Error {}

const HTML = { 'content-type': 'text/html; charset=UTF-8' };

/** A page outside the protocol. */
export function page(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return { status, headers: { ...HTML, ...headers }, body };
}

export function crashPage(): Answer {
  const link = '<a href="https://wordpress.org/documentation/article/faq-troubleshooting/">Learn more</a>';
  return page(500, `<p>There has been a critical error on this website.</p><p>${link} about troubleshooting.</p>`);
}

/** `<mainwp>base64(json)</mainwp>` with whatever else the site prints around it (child protocol §1.1). */
export function frame(site: DemoSite, value: unknown): Buffer {
  const { noise } = site;
  const content = Buffer.from(JSON.stringify(value)).toString('base64');
  return Buffer.from(`${noise.before}<mainwp>${content}</mainwp>${noise.after}`, 'latin1');
}

/** A framed answer; the faults that damage frames act here. */
export function framed(site: DemoSite, value: unknown, headers: Record<string, string | string[]> = {}): Answer {
  return { status: 200, headers: { ...HTML, ...headers }, body: frameBody(site, value) };
}

function frameBody(site: DemoSite, value: unknown): string | Buffer {
  if (site.faults.emptyFrame) return '<mainwp></mainwp>';
  if (site.faults.malformedJson) {
    return `<mainwp>${Buffer.from('{"version":"6.1","plugins":[{"na').toString('base64')}</mainwp>`;
  }
  return value instanceof Framed ? value.body : frame(site, value);
}
