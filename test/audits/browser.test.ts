/**
 * What a page can make the audit's browser do: a real Chromium and Lighthouse against a site that attacks an internal
 * service.
 */

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MOST_BROWSERS } from '../../src/outbound/audit/browser.js';
import { createAuditor } from '../../src/outbound/audit/create.js';
import { Slots } from '../../src/runtime/slots.js';
import { SOAK } from '../robustness/soak.js';
import { installedLighthouse } from '../support/lighthouse.js';
import { listenLocally } from '../support/local-server.js';
import { needs } from '../support/needs.js';

/** The audited site's address, the only non-public one that may be called. The internal service is on another one. */
const SITE = '127.0.0.2';
const auditor = createAuditor({
  lighthouse: installedLighthouse,
  chromium: null,
  allowPrivate: [SITE],
  slots: new Slots(MOST_BROWSERS),
  pagespeedUrl: 'http://127.0.0.1:9/',
});

/** Everything that arrived at the internal service, including connections without a request, and datagrams. */
const arrived: string[] = [];
const seen: string[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let datagrams: UdpSocket;
let inside = 0;
let siteUrl = '';

beforeAll(async () => {
  const internal = createServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`);
    response.setHeader('access-control-allow-origin', '*').end('secret');
  });
  internal.on('connection', (socket: Socket) => arrived.push(`connection from ${socket.remoteAddress}`));
  internal.on('upgrade', (request, socket) => {
    arrived.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  inside = (await listenLocally(internal)).port;
  datagrams = createSocket('udp4', () => arrived.push('datagram'));
  await new Promise<void>((resolve) => datagrams.bind(inside, '127.0.0.1', resolve));
  const site = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  siteUrl = `${(await listenLocally(site, SITE)).url}/`;
});

afterAll(() => {
  datagrams.close();
});

/** Audits the site with this answer. The outcome is irrelevant: the test checks what arrived. */
async function audit(then: typeof answer): Promise<{ response_code: number | null } | Error> {
  arrived.length = 0;
  seen.length = 0;
  answer = then;
  return auditor
    .run({
      engine: 'lighthouse',
      url: siteUrl,
      strategy: 'desktop',
      locale: 'en',
      key: null,
      signal: new AbortController().signal,
    })
    .catch((error: Error) => error);
}

const html = (body: string) => (request: IncomingMessage, response: ServerResponse) => {
  if (request.url !== '/') response.writeHead(404).end();
  else
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(`<!doctype html><html lang="en"><title>Shop</title><h1>Hello</h1>${body}`);
};

describe('Chromium', needs('chromium', 'lighthouse'), () => {
  // An audit costs a Chromium a quarter of a minute. Redirects of the same browser, also to a file, are in `pictures.test.ts`.
  test.each([
    ['a name of this machine, by TLS', () => `https://localhost:${inside}/`],
    ...(SOAK ? [['a port of this machine', () => `http://127.0.0.1:${inside}/`] as const] : []),
  ] as const)('does not follow a redirect to %s', async (_name, target) => {
    const outcome = await audit((_request, response) => response.writeHead(302, { location: target() }).end());
    expect(seen).toContain('GET /');
    expect(arrived).toEqual([]);
    expect(outcome).toBeInstanceOf(Error);
    expect((outcome as Error).message).toMatch(/private or local address/);
  });

  test.runIf(SOAK)('does not open a file a site redirects to', async () => {
    const outcome = await audit((_request, response) =>
      response.writeHead(302, { location: 'file:///etc/hosts' }).end(),
    );
    expect(outcome).toBeInstanceOf(Error);
  });

  test('lets nothing of a page reach what is internal, and measures the page', async () => {
    const outcome = await audit(
      html(`
        <link rel="dns-prefetch" href="//localhost:${inside}/"><link rel="preconnect" href="http://localhost:${inside}/">
        <link rel="prefetch" href="http://127.0.0.1:${inside}/prefetch">
        <link rel="stylesheet" href="http://127.0.0.1:${inside}/style.css">
        <img alt="" width="1" height="1" src="http://127.0.0.1:${inside}/image.png">
        <img alt="" width="1" height="1" src="http://localhost:${inside}/image.png">
        <iframe title="inside" src="http://127.0.0.1:${inside}/frame"></iframe>
        <iframe title="name" src="http://localhost:${inside}/frame"></iframe>
        <iframe title="form" name="form"></iframe>
        <form id="f" method="post" action="http://127.0.0.1:${inside}/do" target="form"><input name="a" value="b"></form>
        <script src="http://127.0.0.1:${inside}/script.js"></script>
        <script>
          document.cookie = 'reached=script';
          document.getElementById('f').submit();
          fetch('http://127.0.0.1:${inside}/fetch', { mode: 'no-cors' }).catch(() => {});
          fetch('http://127.0.0.1:${inside}/post', { method: 'POST', mode: 'no-cors', body: 'x' }).catch(() => {});
          navigator.sendBeacon('http://127.0.0.1:${inside}/beacon', 'x');
          for (const scheme of ['ws', 'wss']) new WebSocket(scheme + '://127.0.0.1:${inside}/socket').onerror = () => {};
          new EventSource('http://127.0.0.1:${inside}/events').onerror = () => {};
          const peer = new RTCPeerConnection({ iceServers: [
            { urls: 'stun:127.0.0.1:${inside}' },
            { urls: 'turn:127.0.0.1:${inside}?transport=tcp', username: 'u', credential: 'c' },
            { urls: 'turn:127.0.0.1:${inside}?transport=udp', username: 'u', credential: 'c' },
          ] });
          peer.createDataChannel('x');
          peer.createOffer().then((offer) => peer.setLocalDescription(offer)).then(() => fetch('/offered'));
        </script>
        <script>
          //# ${'sourceMappingURL'}=http://127.0.0.1:${inside}/code.map
        </script>`),
    );
    expect(outcome).toMatchObject({ engine: 'lighthouse', response_code: 200 });
    // The page's own script ran to its end, so all of the above was tried.
    expect(seen).toContain('GET /offered');
    expect(arrived).toEqual([]);
  });
});
