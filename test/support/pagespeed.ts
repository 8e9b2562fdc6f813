/** A local server that implements the format of PageSpeed Insights v5, for tests. */

import { createServer } from 'node:http';
import { listenLocally } from './local-server.js';

export interface Asked {
  url: string;
  strategy: string;
  key: string;
  locale: string;
  categories: string[];
}

export interface FakePagespeed {
  url: string;
  asked: Asked[];
  /** Maximum number of concurrent requests. */
  peak(): number;
  /** Sets the next answers, in order; without one it is a good result. */
  next(...answers: { status: number; body: unknown }[]): void;
  /** Performance score of good results, 0 to 1. */
  score: number;
}

export async function fakePagespeed(): Promise<FakePagespeed> {
  const queue: { status: number; body: unknown }[] = [];
  let now = 0;
  let peak = 0;
  const fake: FakePagespeed = {
    url: '',
    asked: [],
    score: 0.875,
    peak: () => peak,
    next: (...answers) => queue.push(...answers),
  };
  const server = createServer((request, response) => {
    peak = Math.max(peak, ++now);
    const params = new URL(request.url ?? '', 'http://x').searchParams;
    const get = (name: string) => params.get(name) ?? '';
    fake.asked.push({
      url: get('url'),
      strategy: get('strategy'),
      key: get('key'),
      locale: get('locale'),
      categories: params.getAll('category'),
    });
    const { status, body } = queue.shift() ?? { status: 200, body: result(get('url'), fake.score) };
    setTimeout(() => {
      now--;
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }, 5);
  });
  const { url } = await listenLocally(server);
  fake.url = `${url}/pagespeedonline/v5/runPagespeed`;
  return fake;
}

/** An error in the format of Google's APIs. */
export function googleError(code: number, message: string, reason: string, detail?: string) {
  return {
    status: code,
    body: {
      error: {
        code,
        message,
        errors: [{ message, domain: 'lighthouse', reason }],
        ...(detail === undefined
          ? {}
          : {
              details: [
                { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: detail, domain: 'googleapis.com' },
              ],
            }),
      },
    },
  };
}

function numeric(
  id: string,
  numericValue: number,
  score: number | null,
  displayValue: string,
  numericUnit = 'millisecond',
) {
  return {
    id,
    title: id,
    description: 'About it. [Learn more](https://x.example/).',
    score,
    scoreDisplayMode: 'numeric',
    displayValue,
    numericValue,
    numericUnit,
  };
}

/** The members of a real answer, with the audits reduced to those that are read and a few that are not. */
export function result(url: string, performance: number) {
  return {
    captchaResult: 'CAPTCHA_NOT_NEEDED',
    kind: 'pagespeedonline#result',
    id: url,
    loadingExperience: { initial_url: url },
    analysisUTCTimestamp: '2026-11-20T12:00:00.000Z',
    lighthouseResult: {
      requestedUrl: url,
      finalUrl: url,
      lighthouseVersion: '12.8.2',
      fetchTime: '2026-11-20T12:00:00.000Z',
      runWarnings: [],
      audits: {
        'first-contentful-paint': numeric('first-contentful-paint', 912.4, 0.99, '0.9 s'),
        'largest-contentful-paint': numeric('largest-contentful-paint', 2500.6, 0.9, '2.5 s'),
        'speed-index': numeric('speed-index', 1400, 0.97, '1.4 s'),
        'total-blocking-time': numeric('total-blocking-time', 0, 1, '0 ms'),
        'cumulative-layout-shift': numeric('cumulative-layout-shift', 0.123456, 0.7, '0.123', 'unitless'),
        interactive: numeric('interactive', 2600, 0.95, '2.6 s'),
        'image-alt': {
          id: 'image-alt',
          title: 'Image elements do not have `[alt]` attributes',
          description: 'Informative elements should aim for short, descriptive text. [Learn more](https://x.example/).',
          score: 0,
          scoreDisplayMode: 'binary',
        },
        'unused-javascript': {
          ...numeric('unused-javascript', 300, 0.5, 'Potential savings of 120 KiB'),
          title: 'Reduce unused JavaScript',
        },
        'document-title': {
          id: 'document-title',
          title: 'Document has a title',
          description: '',
          score: 1,
          scoreDisplayMode: 'binary',
        },
        'screenshot-thumbnails': {
          id: 'screenshot-thumbnails',
          title: 'Thumbnails',
          description: '',
          score: null,
          scoreDisplayMode: 'informative',
        },
        'network-requests': {
          id: 'network-requests',
          score: null,
          details: {
            type: 'table',
            items: [
              { url, resourceType: 'Document', statusCode: 200 },
              { url: `${url}x.js`, resourceType: 'Script', statusCode: 404 },
            ],
          },
        },
      },
      categories: {
        performance: category('performance', performance, [
          ['first-contentful-paint', 'metrics'],
          ['cumulative-layout-shift', 'metrics'],
          ['unused-javascript', 'diagnostics'],
          ['screenshot-thumbnails', 'hidden'],
        ]),
        accessibility: category('accessibility', 0.9, [
          ['image-alt', 'a11y-names-labels'],
          ['document-title', 'a11y'],
        ]),
        'best-practices': category('best-practices', 1, []),
        seo: category('seo', 0.92, [['image-alt', 'seo-content']]),
      },
      timing: { total: 15_000 },
    },
  };
}

function category(id: string, score: number, refs: [string, string][]) {
  return { id, title: id, score, auditRefs: refs.map(([name, group]) => ({ id: name, weight: 1, group })) };
}
