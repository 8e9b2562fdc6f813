/**
 * Cross-site request forgery, tried with a real browser: it has a saved login, and pages of other origins request
 * updates of the whole fleet. Skipped with a message where there is no Chromium.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpListener } from '../../src/surfaces/http/server.js';
import { launchChromium } from '../support/chromium.js';
import { type TestApp, testApp } from '../support/harness.js';
import { serveLocally } from '../support/local-server.js';
import { newUser } from '../support/logins.js';
import { needs } from '../support/needs.js';

const LOGIN = { username: 'ada', password: 'pass' };
const RUN = '/wp-json/wp-abilities/v1/abilities/svc/update-all-v1/run';

let app: TestApp;
let listener: HttpListener;
let evil: Server;
let browser: Browser;
let target: string;

/** Requests that a page of another origin can send, without and with a script. */
const PAGES: Record<string, () => string> = {
  'an empty form': () => form('application/x-www-form-urlencoded', ''),
  'an empty form as text': () => form('text/plain', ''),
  'an empty form in parts': () => form('multipart/form-data', ''),
  'a form that reads as JSON': () => form('text/plain', `<input name='{"input":{},"x":"' value='"}'>`),
  'a request without a body': () => script(`fetch(to, { method: 'POST', mode: 'no-cors', credentials: 'include' })`),
  'a request with JSON as text': () =>
    script(`fetch(to, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"input":{}}' })`),
  'a beacon': () => script('Promise.resolve(navigator.sendBeacon(to))'),
};
const form = (type: string, fields: string) =>
  `<form method=post enctype="${type}" action="${target}">${fields}</form><script>document.forms[0].submit()</script>`;
const script = (call: string) =>
  `<script>const to = ${JSON.stringify(target)}; ${call}.catch(() => 0).then(() => { document.title = 'sent'; });</script>`;

/** Number of available updates in the whole fleet. */
const offered = async () => (await app.call('list-updates', {})).total as number;

describe('a browser with a saved login', needs('chromium'), () => {
  beforeAll(async () => {
    // The worst case: the browser is challenged for a login, so that it has one to send along.
    app = await testApp({ sites: 3, config: { basic_challenge: true } });
    for (let i = 0; i < 3; i += 1) await app.connect(i);
    await newUser(app.service.store.users, LOGIN.username, LOGIN.password);
    listener = await serveLocally(await app.service.http());
    target = `${listener.url}${RUN}`;
    evil = createServer((request, response) => {
      const name = decodeURIComponent(request.url?.slice(1) ?? '');
      response.setHeader('content-type', 'text/html').end(`<!doctype html>${PAGES[name]?.() ?? ''}`);
    });
    await new Promise<void>((resolve) => evil.listen(0, resolve));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    evil.close();
  });

  // Another site, and another port of the same one.
  describe.each(['localhost', '127.0.0.1'])('and a page at %s', (name) => {
    let context: BrowserContext;
    beforeAll(async () => {
      context = await browser.newContext({ httpCredentials: LOGIN });
      const page = await context.newPage();
      // Logged in: from here on the browser sends the login automatically.
      const own = await page.goto(`${listener.url}/wp-json/wp-abilities/v1/abilities`);
      expect(own?.status()).toBe(200);
      await page.close();
    });
    afterAll(() => context.close());

    it.each(Object.keys(PAGES))('updates nothing by %s', async (kind) => {
      const page = await context.newPage();
      const before = await offered();
      const calls = app.fleet.stats().requests;
      expect(before).toBeGreaterThan(0);
      const reached = page.waitForResponse((response) => response.url() === target);
      const { port } = evil.address() as AddressInfo;
      await page.goto(`http://${name}:${port}/${encodeURIComponent(kind)}`);
      expect([403, 415]).toContain((await reached).status());
      expect(await offered()).toBe(before);
      expect(app.fleet.stats().requests).toBe(calls);
      await page.close();
    });
  });

  it('a page of our own may change something, and the login really is sent along', async () => {
    const context = await browser.newContext({ httpCredentials: LOGIN });
    const page = await context.newPage();
    await page.goto(`${listener.url}/wp-json/wp-abilities/v1/abilities`);
    // Our answers forbid scripts; this one stands for a page of ours that has some.
    await page.route('**/own', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
    await page.goto(`${listener.url}/own`);
    const status = await page.evaluate(async (to) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(to, { method: 'POST', headers, body: '{"input":{}}' });
      return answer.status;
    }, `${listener.url}/abilities/svc/sync-sites-v1/run`);
    expect(status).toBe(200);
    await context.close();
  });
});
