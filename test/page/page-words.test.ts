/** The page names neither operations nor routes: what a text advises to call is a button or a list of the page. */

import { expect, it } from 'vitest';
import { ROUTE_OF } from '../../src/surfaces/rest/route-names.js';
import { inPageWords } from '../../web/api/page-words.js';
import { restApp } from '../rest/client.js';

const ROUTE = /\b(?:GET|POST|PUT|PATCH|DELETE) \/|\/v2\/|-v\d\b/;

it.each(Object.entries(ROUTE_OF))('what %s does has words', (_, route) => {
  const words = inPageWords(`Use ${route}. Or ${route.replace(/\{\w+\}/, '12')}, then.`);
  expect(words).not.toMatch(ROUTE);
  expect(words).toMatch(/^Use .+\. Or .+, then\.$/);
});

it('of a site that is suspended or disconnected, in records, lists and errors', async () => {
  const app = await restApp({ sites: 2 });
  for (const site of [0, 1]) await app.connect(site);
  await app.rest('POST /sites/1/suspend');
  await app.rest('POST /sites/2/disconnect');
  const shown = async (call: string) => {
    const text = JSON.stringify((await app.rest(call)).body);
    const words = inPageWords(text);
    expect(() => JSON.parse(words)).not.toThrow();
    return words;
  };
  for (const call of ['GET /sites/1', 'GET /sites', 'GET /sites/basic']) {
    const words = await shown(call);
    expect(words).toContain('lift it with “Lift suspension” on its page.');
    expect(words).not.toMatch(/\b(?:GET|POST) \/v2/);
  }
  await expect.poll(() => shown('GET /sites/2')).toContain('reconnect it with “Reconnect” on its page.');
  await expect
    .poll(() => shown('POST /sites/1/sync'))
    .toContain('Lift the suspension with “Lift suspension” on its page first.');
});
