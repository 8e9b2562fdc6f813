/**
 * DNS rebinding against a real name server: a name that has a public address when it is checked, and a loopback address when
 * it is connected to, gives no access to the local network.
 */

import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { createVulnerabilityFeed } from '../../src/outbound/feed/create.js';
import { nameServers } from '../../src/outbound/name-lookup.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import { createWebhookSender } from '../../src/outbound/webhook/http.js';
import { listenLocally } from '../support/local-server.js';
import { nameServer } from '../support/name-server.js';

const { signal } = new AbortController();
const NAME = 'rebinding.example';
const PUBLIC = '93.184.215.14';

/** Its first lookup finds a public address. Each asks for IPv4 and IPv6. */
async function rebinding(lookups: number) {
  const answers: string[] = [];
  const known = {
    get [NAME]() {
      answers.push(answers.length < 2 * lookups ? PUBLIC : '127.0.0.1');
      return String(answers.at(-1));
    },
  };
  const { address } = await nameServer(known);
  const ask = nameServers({ timeout: 2_000, tries: 1, servers: [address] });
  return { answers, lookup: async (host: string) => (await ask(host)).found };
}

/** A service inside, and what was asked of it. */
async function inside() {
  const asked: string[] = [];
  const { port } = await listenLocally(
    createServer((request, response) => {
      asked.push(String(request.url));
      response.end('{}');
    }),
  );
  return { asked, url: `http://${NAME}:${port}/` };
}

const common = { allowPrivate: false, userAgent: 'test' } as const;

it('as the address of a webhook', async () => {
  const { asked, url } = await inside();
  const { answers, lookup } = await rebinding(1);
  const sender = createWebhookSender({ ...common, lookup });
  await expect(sender.post({ url, headers: {}, body: '{}', signal })).rejects.toThrow('private or local address');
  expect([answers[0], answers.at(-1)]).toEqual([PUBLIC, '127.0.0.1']);
  expect(asked).toEqual([]);
  await sender.close();
});

it('as the address of the feed of vulnerabilities', async () => {
  const { asked, url } = await inside();
  const { answers, lookup } = await rebinding(1);
  const feed = createVulnerabilityFeed({ ...common, location: url, key: 'secret', lookup });
  await expect(feed.open(null, signal)).rejects.toThrow('private or local address');
  expect([answers[0], answers.at(-1)]).toEqual([PUBLIC, '127.0.0.1']);
  expect(asked).toEqual([]);
  await feed.close();
});

it('as a monitored site, directly and by a redirect', async () => {
  const { asked, url } = await inside();
  const front = await listenLocally(
    createServer((_request, response) => response.writeHead(302, { location: url }).end()),
    '127.0.0.2',
  );
  const request = { method: 'GET', http_user: null, http_pass: null, ssl_verify: true } as const;
  for (const from of [url, front.url]) {
    const { lookup } = await rebinding(0);
    const probe = createProbe({ allowPrivate: ['127.0.0.2'], lookup });
    const { failure } = await probe.http({
      ...request,
      url: from,
      timeoutMs: 5_000,
      expected: [],
      maxBytes: 10,
      signal,
    });
    expect([from, failure?.kind]).toEqual([from, 'blocked_address']);
    await probe.close();
  }
  expect(asked).toEqual([]);
});
