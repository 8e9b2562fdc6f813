/** Each view of the page is there at its address, so that a link to it, a bookmark and a reload find it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';

it('every view answers at its address, and nothing else does', async () => {
  const pageFolder = tempFolder('page');
  writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>Sitefleet</title>');
  const app = await testApp({ sites: 1, pageFolder });
  const http = await app.service.http();
  const source = readFileSync(new URL('../../web/app.tsx', import.meta.url), 'utf8');
  const views = [...source.matchAll(/<Route path="([^"]+)"/g)].map(([, path]) => String(path).replaceAll(':id', '1'));
  expect(views).toEqual(expect.arrayContaining(['/', '/sites/1', '/approvals']));
  for (const view of [...views, '/login', '/no/such/view']) {
    const reply = await http.request(`http://127.0.0.1:8787${view}`, { headers: { accept: 'text/html' } });
    expect([view, reply.status, await reply.text()]).toEqual([
      view,
      view === '/no/such/view' ? 404 : 200,
      expect.stringContaining('<title>Sitefleet</title>'),
    ]);
  }
});
