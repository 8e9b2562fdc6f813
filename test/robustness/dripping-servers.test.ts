/**
 * A foreign server that drips its answer byte by byte delays nobody beyond the time limit of the call.
 * Garbage is collected meanwhile, because a time limit that nothing references would be collected too.
 */

import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { createVulnerabilityFeed } from '../../src/outbound/feed/create.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import { createWebhookSender } from '../../src/outbound/webhook/http.js';
import { collect } from '../support/collect.js';
import { listenLocally } from '../support/local-server.js';

/** Of each call: the answer has to begin within it, however busy the machine is. */
const LIMIT_MS = 5_000;
const { signal } = new AbortController();
const common = { allowPrivate: true, userAgent: 'test' } as const;
let url = '';

/** Answers with the status that the path names, and sends blanks for ever. */
beforeAll(async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(Number(request.url?.slice(1)), { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 50);
    const garbage = setInterval(collect, 1_000);
    response.on('close', () => {
      clearInterval(drip);
      clearInterval(garbage);
    });
  });
  ({ url } = await listenLocally(server));
});

describe('a server that never stops sending', () => {
  const post = (path: string) => {
    const sender = createWebhookSender({ ...common, timeoutMs: LIMIT_MS });
    return sender.post({ url: `${url}${path}`, headers: {}, body: '{}', signal }).finally(sender.close);
  };

  it('as the receiver of a webhook: its status counts', async () => {
    const refused = expect(post('/500')).rejects.toThrow('The receiver answered with HTTP 500.');
    await Promise.all([post('/200'), refused]);
  });

  it('as the feed of vulnerabilities: it did not arrive in time', async () => {
    const feed = createVulnerabilityFeed({ ...common, location: `${url}/200`, key: null, totalMs: LIMIT_MS });
    // On a busy machine the time is up before the first byte.
    const read = async () => {
      const copy = await feed.open(null, signal);
      if (copy.changed) for await (const batch of copy.batches) expect(batch).toEqual([]);
    };
    await expect(read()).rejects.toThrow('The feed did not arrive in time.');
    await feed.close();
  });

  it('as a monitored site, and as the registry of a domain', async () => {
    const probe = createProbe({
      ...common,
      registryTimeoutMs: LIMIT_MS,
      rdapBootstrapUrl: `${url}/200`,
      whoisRoot: url.slice('http://'.length),
    });
    const request = { url: `${url}/200`, method: 'GET', http_user: null, http_pass: null, ssl_verify: true } as const;
    const answer = await probe.http({ ...request, timeoutMs: LIMIT_MS, expected: [], maxBytes: 1_000_000, signal });
    expect(answer.failure?.kind).toBe('timed_out');
    expect(await probe.domain('example.com', signal)).toMatchObject({ outcome: 'failed' });
    await probe.close();
  });
});
