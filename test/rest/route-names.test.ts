/** What errors and reasons of the REST interface advise to call are its own routes. */

import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../src/surfaces/rest/index.js';
import { ROUTE_OF } from '../../src/surfaces/rest/route-names.js';
import { operations } from '../../tools/index.js';
import { type RestApp, restApp } from './client.js';

/** The name of an operation, as opposed to part of a route. */
const OPERATION = /\b[a-z]+(?:-[a-z]+)+-v1\b/;

describe('advice', () => {
  let app: RestApp;
  beforeAll(async () => {
    app = await restApp({ sites: 2 });
    await app.connect(0);
    await app.connect(1);
    await app.rest('POST /sites/1/suspend');
    await app.rest('POST /sites/2/disconnect');
  });

  it.each<[string, unknown, string]>([
    ['POST /sites/1/sync', undefined, 'Lift the suspension with POST /v2/sites/{id_or_domain}/unsuspend first.'],
    ['GET /sites/2', undefined, 'reconnect it with POST /v2/sites/{id_or_domain}/reconnect.'],
    [
      'POST /sites/2/plugins/activate',
      { slug: 'akismet/akismet.php' },
      'Reconnect it first with POST /v2/sites/{id_or_domain}/reconnect.',
    ],
    ['GET /sites/1', undefined, 'lift it with POST /v2/sites/{id_or_domain}/unsuspend.'],
    ['GET /sites', undefined, 'lift it with POST /v2/sites/{id_or_domain}/unsuspend.'],
    ['GET /sites?full_data=1', undefined, 'lift it with POST /v2/sites/{id_or_domain}/unsuspend.'],
    ['GET /sites/basic', undefined, 'lift it with POST /v2/sites/{id_or_domain}/unsuspend.'],
    ['POST /sites/disconnect', { include: [2] }, 'reconnect it with POST /v2/sites/{id_or_domain}/reconnect.'],
    ['POST /sites/sync', { include: [1], dry_run: true }, 'lift it with POST /v2/sites/{id_or_domain}/unsuspend.'],
    ['POST /sites/batch', { sync: [1] }, 'POST /v2/sites/{id_or_domain}/unsuspend first.'],
    ['PATCH /sites/1/edit', { client_id: 99 }, 'GET /v2/clients.'],
  ])('of %s names routes, not operations', async (call, body, advice) => {
    const reply = JSON.stringify((await app.rest(call, body === undefined ? {} : { body })).body);
    expect(reply).toContain(advice);
    expect(reply).not.toMatch(OPERATION);
  });
});

describe('the table of routes', () => {
  it('has only operations and routes that exist', () => {
    const known = new Set(routes.flatMap(({ on, path }) => on.map((method) => `${method} /v2${path}`)));
    const ids = new Set(operations.map(({ id }) => id));
    for (const [name, route] of Object.entries(ROUTE_OF)) {
      expect([name, ids.has(`svc/${name}-v1`), route, known.has(route)]).toEqual([name, true, route, true]);
    }
  });

  it('has every operation that a text of the verbs names, except those without a route', () => {
    const without = new Set([
      ...['search-fleet', 'set-ignored-updates', 'ignore-update-everywhere', 'list-vulnerabilities'],
      // A call in the shell.
      'decide-guidance',
    ]);
    const files = ['src/domain', 'src/outbound', 'src/runtime'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
    );
    const ids = new Set(operations.map(({ id }) => id));
    const named = files
      .flatMap((text) => [...text.matchAll(/(?<![\w/-])(?:svc\/)?([a-z]+(?:-[a-z]+)+)-v1\b/g)])
      .map(([, name = '']) => name)
      .filter((name) => ids.has(`svc/${name}-v1`) && !without.has(name));
    expect(named.length).toBeGreaterThan(30);
    expect([...new Set(named)].filter((name) => ROUTE_OF[name] === undefined)).toEqual([]);
  });
});
