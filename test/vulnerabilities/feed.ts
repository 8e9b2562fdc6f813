/** Feeds in the format of Wordfence Intelligence v3 with made-up plugins, and a loopback server that serves one. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listenLocally } from '../support/local-server.js';

/** `[from, inclusive, to, inclusive]`, `*` = no bound, as in the feed. */
export type Affected = [string, boolean, string, boolean];

interface Made {
  type?: 'plugin' | 'theme' | 'core';
  slug: string;
  affected: Affected[];
  fixed?: string[];
  rating?: string | null;
  score?: number;
  cve?: string | null;
  informational?: boolean;
  title?: string;
}

export const DEFIANT = {
  notice: 'Copyright 2012-2026 Example Guardians Inc.',
  license: 'Any copy must include a hyperlink to this record and this text.',
  license_url: 'https://guardians.example/terms/',
};
export const MITRE = {
  notice: 'Copyright 1999-2026 The Example Registry',
  license: 'A perpetual licence to reproduce.',
  license_url: 'https://vulnerabilities.example/terms',
};

const uid = (n: number) => `0000000${n}-aaaa-4bbb-8ccc-${String(n).padStart(12, '0')}`.slice(-36);

/** One entry in the feed's format. */
export function entry(n: number, made: Made) {
  const { type = 'plugin', slug, affected, fixed = [], rating = 'Medium', score = 5.4 } = made;
  const { cve = `CVE-2026-${1000 + n}` } = made;
  const id = uid(n);
  return {
    id,
    title: made.title ?? `Made-up ${slug} - Weakness ${n}`,
    software: [
      {
        type,
        name: `The ${slug}`,
        slug,
        // PHP serializes an empty map as a list.
        affected_versions:
          affected.length === 0
            ? []
            : Object.fromEntries(
                affected.map(([from_version, from_inclusive, to_version, to_inclusive]) => [
                  `${from_version} - ${to_version}`,
                  { from_version, from_inclusive, to_version, to_inclusive },
                ]),
              ),
        patched: fixed.length > 0,
        patched_versions: fixed,
        remediation: 'Update to a fixed version.',
      },
    ],
    informational: made.informational ?? false,
    description: 'A long description that is not kept.',
    references: [`https://guardians.example/record/${id}`, 'https://elsewhere.example/'],
    cwe: { id: 79, name: 'Cross-site Scripting', description: 'Text.' },
    cvss: rating === null ? null : { vector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:R/S:C/C:L/I:L/A:N', score, rating },
    cve,
    cve_link: cve === null ? null : `https://vulnerabilities.example/${cve}`,
    researchers: ['Nobody'],
    published: '2026-11-01 08:30:00',
    updated: '2026-11-02 00:00:00',
    copyrights: {
      message: 'This record is subject to copyright.',
      defiant: DEFIANT,
      ...(cve === null ? {} : { mitre: MITRE }),
    },
  };
}

export function feedText(entries: readonly unknown[]): string {
  return JSON.stringify(Object.fromEntries(entries.map((one, at) => [(one as { id?: string })?.id ?? `x${at}`, one])));
}

export interface FeedServer {
  url: string;
  /** Headers of the requests so far. */
  asked: IncomingHttpHeaders[];
  /** Sets the content; the ETag follows the text. */
  serve(text: string | Buffer, options?: { gzip?: boolean }): void;
  /** Sets the next answers, before the content. `cut` ends the connection in the middle of the content. */
  next(...answers: ({ status: number; headers?: Record<string, string>; body?: string } | 'cut')[]): void;
  /** Only requests with this key are answered. */
  key: string | null;
  close(): Promise<void>;
}

export async function feedServer(): Promise<FeedServer> {
  let body: Buffer = Buffer.from('{}');
  let headers: Record<string, string> = {};
  let revision = 0;
  const queue: ({ status: number; headers?: Record<string, string>; body?: string } | 'cut')[] = [];
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.headers);
    const etag = `"r${revision}"`;
    const once = queue.shift();
    if (once === 'cut') {
      outgoing.writeHead(200, { 'content-length': body.length, etag: '"cut"' });
      outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
      return;
    }
    if (once !== undefined) outgoing.writeHead(once.status, once.headers).end(once.body ?? '');
    else if (made.key !== null && incoming.headers.authorization !== `Bearer ${made.key}`)
      outgoing.writeHead(401).end();
    else if (incoming.headers['if-none-match'] === etag) outgoing.writeHead(304, { etag }).end();
    else outgoing.writeHead(200, { 'content-type': 'application/json', etag, ...headers }).end(body);
  });
  const { url, close } = await listenLocally(server);
  const made: FeedServer = {
    url: `${url}/feed`,
    asked,
    key: null,
    serve(text, { gzip = false } = {}) {
      revision++;
      body = gzip ? gzipSync(text) : Buffer.from(text);
      headers = gzip ? { 'content-encoding': 'gzip' } : {};
    },
    next: (...answers) => void queue.push(...answers),
    close,
  };
  return made;
}
