/** Typical mistakes in inputs: each is refused by name, with the next step, and changes nothing. */

import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { neverAnswers } from '../support/hold-back.js';
import { type CheckedApp, checkedApp } from './checked-app.js';

describe('the shape of the input', () => {
  let app: CheckedApp;
  let before: string;
  beforeAll(async () => {
    app = await checkedApp({ sites: 2 });
    await app.connectAll(2);
    await app.call('add-tag', { name: 'blue' });
    before = await app.content();
  });
  afterEach(async () => expect(await app.content()).toBe(before));

  const many = Array.from({ length: 5001 }, (_, i) => i + 1);
  it.each<[string, string, unknown, string, RegExp]>([
    ['an unknown field', 'suspend-site', { site_id_or_domain: 1, force: true }, 'force', /not a field/],
    ['a misspelt field beside a missing one', 'suspend-site', { site: 1 }, 'site_id_or_domain', /required/],
    [
      'one value for a list',
      'suspend-sites',
      { site_ids_or_domains: 'site.example' },
      'site_ids_or_domains',
      /must be a list/,
    ],
    [
      'one value for an optional list',
      'sync-sites',
      { site_ids_or_domains: 1 },
      'site_ids_or_domains',
      /must be a list/,
    ],
    ['text for a list', 'update-all', { site_ids_or_domains: '[1]' }, 'site_ids_or_domains', /must be a list/],
    ['too many members', 'suspend-sites', { site_ids_or_domains: many }, 'site_ids_or_domains', /at most 5000/],
    [
      'too many slugs',
      'activate-site-plugins',
      { site_id_or_domain: 1, slugs: many.map(String) },
      'slugs',
      /at most 5000/,
    ],
    [
      'an object for a site',
      'get-site',
      { site_id_or_domain: { id: 1 } },
      'site_id_or_domain',
      /must be an id \(integer\) or text/,
    ],
    ['true for a site', 'get-site', { site_id_or_domain: true }, 'site_id_or_domain', /must be an id/],
    ['a fraction for a site', 'get-site', { site_id_or_domain: 1.5 }, 'site_id_or_domain', /must be an integer/],
    ['a bad member', 'sync-sites', { site_ids_or_domains: [1, null] }, 'site_ids_or_domains[1]', /must be an id/],
    [
      'a word for a switch',
      'delete-site',
      { site_id_or_domain: 1, confirm: 'yes' },
      'confirm',
      /must be true or false/,
    ],
    ['a number for a switch', 'get-site', { site_id_or_domain: 1, include_stats: 2 }, 'include_stats', /true or false/],
    ['a value in the wrong case', 'list-sites', { status: 'Connected' }, 'status', /must be one of "any", "connected"/],
    ['a page of 0', 'list-sites', { page: 0 }, 'page', /1 or more/],
    ['a page of text', 'list-sites', { page: 'two' }, 'page', /must be an integer\.$/],
    ['a fraction as text', 'list-sites', { page: '1.5' }, 'page', /must be an integer\.$/],
    [
      'text for an id that may be null',
      'update-time-task',
      { task_id: 1, client_id: 'x' },
      'client_id',
      /must be an integer\.$/,
    ],
    ['half a page', 'list-sites', { page: 1.5 }, 'page', /must be an integer/],
    ['a page beyond all numbers', 'list-sites', { page: 1e300 }, 'page', /at most 15 digits/],
    ['a page too large', 'list-sites', { per_page: 101 }, 'per_page', /100 or less/],
    ['null for a required list', 'suspend-sites', { site_ids_or_domains: null }, 'site_ids_or_domains', /not null/],
    ['null for a required site', 'get-site', { site_id_or_domain: null }, 'site_id_or_domain', /not null/],
    ['client 0', 'update-site', { site_id_or_domain: 1, client_id: 0 }, 'client_id', /1 or more/],
    ['a long name', 'update-site', { site_id_or_domain: 1, name: 'x'.repeat(256) }, 'name', /at most 255 characters/],
    ['an unknown type', 'list-updates', { types: ['core', 'addon'] }, 'types[1]', /must be one of/],
    ['an empty tag name', 'add-tag', { name: '' }, 'name', /must not be empty/],
    ['a color by name', 'update-tag', { tag_id: 1, color: 'red' }, 'color', /must be a hex color/],
    [
      'control characters in a slug',
      'ignore-site-plugins',
      { site_id_or_domain: 1, action: 'add', slugs: ['a\0b'] },
      'slugs[0]',
      /control characters/,
    ],
    [
      'control characters in a login',
      'add-site',
      { url: 'https://a.example/', admin: 'a\nb' },
      'admin',
      /control characters/,
    ],
    ['no object at all', 'list-sites', 'page 2', '', /must be an object/],
    ['a list for the input', 'list-sites', [1], '', /must be an object/],
  ])('%s', async (_what, name, input, field, message) => {
    const error = await app.fail(name, input);
    expect(error).toMatchObject({ code: 'ability_invalid_input', status: 400, field });
    expect(error.message).toMatch(message);
    expect(error.advice).toMatch(/\.$/);
  });

  it('never repeats what was sent', async () => {
    const error = await app.fail('add-site', { url: 'https://a.example/', admin: 'a', admin_password: ['hunter2'] });
    expect(error).toMatchObject({ code: 'ability_invalid_input', field: 'admin_password' });
    expect(JSON.stringify([error.message, error.advice, error.data])).not.toContain('hunter2');
  });

  it('takes what the wire makes of good values', async () => {
    expect(await app.call('list-sites', { page: '1', per_page: '1', status: 'any' })).toMatchObject({
      total: 2,
      per_page: 1,
    });
    expect(await app.call('get-site', { site_id_or_domain: '1', include_stats: 'true' })).toHaveProperty('stats');
    expect(await app.call('get-site', { site_id_or_domain: ' 2 ', include_stats: 'FALSE' })).not.toHaveProperty(
      'stats',
    );
    expect(await app.call('delete-site', { site_id_or_domain: 1, dry_run: '1', confirm: 'false' })).toMatchObject({
      deleted: false,
    });
    expect(await app.call('list-sites', null)).toMatchObject({ total: 2 });
  });

  it.each([
    '',
    ' ',
    '0',
    0,
    -3,
    '12.7',
    '1e2',
    9007199254740991,
    'a\0b',
    'http://',
    'https://:80',
    '☃'.repeat(3000),
    'site.example/%00',
  ])('knows no site %j', async (ref) => {
    expect(await app.fail('get-site', { site_id_or_domain: ref })).toMatchObject({
      code: 'svc_site_not_found',
      field: 'site_id_or_domain',
    });
  });
});

describe('connecting what cannot be connected', () => {
  let app: CheckedApp;
  beforeEach(async () => {
    app = await checkedApp({ sites: 3 });
  });

  async function refused(change: object = {}) {
    const site = app.site(0);
    const input = {
      url: site.url,
      admin: site.admin,
      admin_password: site.password,
      unique_id: site.uniqueId,
      ...change,
    };
    const before = await app.content();
    const error = await app.fail('add-site', input);
    expect(await app.content()).toBe(before);
    expect(await app.cell('SELECT count(*) FROM site_secret')).toBe(0);
    expect(error.advice).toMatch(/\.$/);
    expect(JSON.stringify([error.message, error.advice, error.data])).not.toContain(site.password);
    return error;
  }

  it.each([
    'example.com',
    'ftp://example.com/',
    'https://',
    'https://user:pw@example.com/',
    `https://example.com/${'x'.repeat(2030)}`,
  ])('the address %s', async (url) => {
    const error = await refused({ url });
    expect([error.code, error.field]).toEqual([url.length > 2048 ? 'ability_invalid_input' : 'svc_invalid_url', 'url']);
  });

  it.each([
    ['a host that refuses', {}, { url: 'http://127.0.0.1:9/' }, 'svc_connection_failed', 'url'],
    ['a host that hangs up', { offline: true }, {}, 'svc_connection_failed', 'url'],
    ['a host without the plugin', { pluginMissing: true }, {}, 'svc_connection_failed', 'url'],
    ['a firewall', { firewall: true }, {}, 'svc_connection_failed', 'url'],
    ['another address', { redirect: 'https://elsewhere.example/' }, {}, 'svc_connection_failed', 'url'],
    ['a broken answer', { malformedJson: true }, {}, 'svc_connection_failed', 'url'],
    ['an endless answer', { oversizedBody: true }, {}, 'svc_connection_failed', 'url'],
    ['a login in front', { httpAuth: { user: 'u', pass: 'p' } }, {}, 'svc_invalid_credentials', 'http_user'],
    [
      'a wrong login in front',
      { httpAuth: { user: 'u', pass: 'p' } },
      { http_user: 'u', http_pass: 'x' },
      'svc_invalid_credentials',
      'http_user',
    ],
    ['a wrong password', {}, { admin_password: 'nope' }, 'svc_invalid_credentials', 'admin_password'],
    ['no password', {}, { admin_password: undefined }, 'svc_invalid_credentials', 'admin_password'],
    ['another user', {}, { admin: 'nobody' }, 'svc_invalid_credentials', 'admin_password'],
  ])('%s', async (_what, faults, change, code, field) => {
    app.site(0).faults = faults;
    expect(await refused(change)).toMatchObject({ code, field });
  });

  it('a host that never answers', async () => {
    neverAnswers(app.site(0), app.clock, app.service.config.site_timeout_ms);
    expect(await refused()).toMatchObject({ code: 'svc_connection_failed', field: 'url' });
  });

  it('tells a refused login in front from a missing one', async () => {
    app.site(0).faults.httpAuth = { user: 'u', pass: 'p' };
    expect((await refused()).message).toContain('asks for an HTTP user name and password');
    const wrong = await refused({ http_user: 'u', http_pass: 'x' });
    expect(wrong.message).toContain('refused the HTTP user name and password');
  });

  it('a user who is no administrator', async () => {
    const site = app.site(0);
    for (const user of site.state.users) user.role = 'editor';
    expect(await refused()).toMatchObject({ code: 'svc_invalid_credentials', field: 'admin' });
  });

  it('a child with the key of another dashboard', async () => {
    const other = await checkedApp({ sites: 1 });
    const site = app.site(0);
    const login = { url: site.url, admin: site.admin, admin_password: site.password, unique_id: site.uniqueId };
    await other.call('add-site', login);
    const error = await refused();
    expect(error).toMatchObject({ code: 'svc_site_add_failed', status: 500 });
    expect(error.data).toMatchObject({ child_code: 'REG_ERROR2' });
  });

  it('a private address, when those are not allowed', async () => {
    const strict = await checkedApp({ sites: 1, config: { allow_private_sites: false } });
    for (const url of [
      strict.site(0).url,
      'http://10.0.0.7/',
      'http://[::1]/',
      'http://169.254.169.254/latest/',
      'http://localhost/',
    ]) {
      const error = await strict.fail('add-site', { url, admin: 'a' });
      expect(error).toMatchObject({ code: 'svc_invalid_url', field: 'url' });
      expect(error.advice).toMatch(/SITEFLEET_ALLOW_PRIVATE_SITES/);
    }
    expect(strict.fleet.stats().requests).toBe(0);
  });
});

describe('a reference that fits several sites', () => {
  let app: CheckedApp;
  beforeAll(async () => {
    app = await checkedApp({ sites: 1 });
  });

  it('is refused unless one is named exactly', async () => {
    const [first, second] = await app.twins();
    for (const ref of ['twin.example', 'www.twin.example', 'https://twin.example/', 'HTTP://WWW.TWIN.EXAMPLE'])
      expect(await app.fail('get-site', { site_id_or_domain: ref })).toMatchObject({
        code: 'svc_ambiguous_site',
        data: { site_ids: [first, second] },
      });
    expect(await app.call('get-site', { site_id_or_domain: 'http://twin.example' })).toMatchObject({ id: first });
    expect(await app.call('get-site', { site_id_or_domain: 'https://WWW.twin.example/?q=1#x' })).toMatchObject({
      id: second,
    });
    expect(await app.call('list-updates', { site_ids_or_domains: ['twin.example', first] })).toMatchObject({
      errors: [{ site_id: 0, site_url: 'twin.example', type: 'site', code: 'svc_ambiguous_site' }],
    });
  });

  it.each([
    ['example.com', true],
    ['www.example.com', true],
    ['http://example.com', true],
    ['HTTPS://Example.COM/', true],
    ['https://example.com:443/', true],
    ['user@example.com', true],
    ['https://example.com/?a=1', true],
    ['example.com/blog', false],
    ['example.com:8080', false],
    ['shop.example.com', false],
  ])('%s', async (ref, known) => {
    await app.row('https://www.example.com/').catch(() => undefined);
    const answer = await app
      .call('get-site', { site_id_or_domain: ref })
      .catch((error: { code: string }) => error.code);
    expect(known ? answer.url : answer).toBe(known ? 'https://www.example.com/' : 'svc_site_not_found');
  });

  it('keeps paths apart, case and all', async () => {
    const blog = await app.row('https://path.example/Blog/');
    expect(await app.call('get-site', { site_id_or_domain: 'path.example/Blog' })).toMatchObject({ id: blog });
    expect((await app.fail('get-site', { site_id_or_domain: 'path.example/blog' })).code).toBe('svc_site_not_found');
    expect((await app.fail('get-site', { site_id_or_domain: 'path.example' })).code).toBe('svc_site_not_found');
  });
});
