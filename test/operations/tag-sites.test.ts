/** Tags of many sites at once: over MCP and HTTP. */

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SupportApp, supportApp } from './support-app.js';

const SITES = 3;

let support: SupportApp;
const tagsOf = async (id: number): Promise<string[]> =>
  (await support.app.call('get-site', { site_id_or_domain: id })).tags.map(({ name }: { name: string }) => name);
const allTags = () => Promise.all(Array.from({ length: SITES }, (_, place) => tagsOf(place + 1)));
const url = (id: number) => support.app.fleet.site(id - 1).url;

const start = async () => {
  support = await supportApp({ connected: SITES });
  for (const name of ['Staging', 'Shops', '2024']) await support.app.call('add-tag', { name });
  await support.app.call('update-site', { site_id_or_domain: 1, tags: [1, 2] });
  await support.app.call('update-site', { site_id_or_domain: 2, tags: [2] });
};

describe('tag-sites', () => {
  beforeEach(start);

  it('adds and removes by name and id, shows it first, and leaves other tags and sites alone', async () => {
    const input = { site_ids_or_domains: [url(1), 2, '2'], add: ['staging', '2024'], remove: [2] };
    const change = {
      tags: [
        { id: 1, name: 'Staging', change: 'add' },
        { id: 3, name: '2024', change: 'add' },
        { id: 2, name: 'Shops', change: 'remove' },
      ],
      changed: [
        { site_id: 1, url: url(1), added: ['2024'], removed: ['Shops'] },
        { site_id: 2, url: url(2), added: ['Staging', '2024'], removed: ['Shops'] },
      ],
      total_changed: 2,
      total_unchanged: 0,
      errors: [],
      total_errors: 0,
    };
    const before = await allTags();
    expect(await support.ask('tag-sites', { ...input, dry_run: true })).toEqual({
      dry_run: true,
      needs_approval: null,
      ...change,
    });
    expect(await allTags()).toEqual(before);
    expect(await support.tool('tag-sites', input)).toEqual(change);
    expect(await allTags()).toEqual([['2024', 'Staging'], ['2024', 'Staging'], []]);
    // Repeated, over the other way in: nothing is left to do.
    const again = await support.post('tag-sites', input);
    expect(again.body).toMatchObject({ changed: [], total_changed: 0, total_unchanged: 2 });
    const logged = await support.tool('search-changes', { kinds: ['site'], actions: ['updated'], via: ['mcp'] });
    expect(logged.changes.map(({ site_id }: { site_id: number }) => site_id).sort()).toEqual([1, 2]);
    expect(logged.changes[0].what).toMatch(/\(tags\)$/);
  });

  it('creates a tag only if told to, and not in a preview', async () => {
    const input = { site_ids_or_domains: [3], add: ['  Black   Friday '] };
    const refused = await support.post('tag-sites', input);
    expect([refused.status, refused.body.code, refused.body.data.field]).toEqual([404, 'svc_tag_not_found', 'add[0]']);
    const preview = await support.ask('tag-sites', { ...input, create: true, dry_run: true });
    expect(preview.tags).toEqual([{ id: null, name: 'Black Friday', change: 'add', created: false }]);
    expect(preview.changed).toMatchObject([{ site_id: 3, added: ['Black Friday'] }]);
    expect(await support.cell('SELECT count(*) FROM tag')).toBe(3);
    const answer = await support.tool('tag-sites', { ...input, create: true });
    expect(answer.tags).toEqual([{ id: 4, name: 'Black Friday', change: 'add', created: true }]);
    expect(await tagsOf(3)).toEqual(['Black Friday']);
    const other = await support.tool('tag-sites', { site_ids_or_domains: [1], add: ['black friday'], create: true });
    expect(other.tags).toEqual([{ id: 4, name: 'Black Friday', change: 'add' }]);
  });

  it('says of each site that cannot be used why', async () => {
    const answer = await support.tool('tag-sites', { site_ids_or_domains: ['nowhere.example', 3], add: [1] });
    expect(answer).toMatchObject({ total_changed: 1, total_errors: 1 });
    expect(answer.errors).toMatchObject([{ identifier: 'nowhere.example', code: 'svc_site_not_found' }]);
  });

  it('stays below 5,000 tokens on thousands of sites', async () => {
    const { app } = support;
    const ids = Array.from({ length: 3000 }, (_, index) => 100 + index);
    await app.db.run(
      `INSERT INTO site (id, url, url_key, name, search, created_at)
       SELECT value, 'https://' || value || '.example/', value || '.example/', 'n', 'n', 1 FROM json_each(?)`,
      [JSON.stringify(ids)],
    );
    const add = Array.from({ length: 10 }, (_, index) => `${'標籤'.repeat(60)} ${index}`);
    const unknown = Array.from({ length: 500 }, (_, index) => `nowhere-${index}.example`);
    const input = { site_ids_or_domains: [...ids, ...unknown], add, create: true };
    const answer = await support.tool('tag-sites', input);
    expect(answer).toMatchObject({ total_changed: 3000, total_errors: 500 });
    expect(await support.cell('SELECT count(*) FROM site_tag WHERE site_id >= 100')).toBe(30_000);
  });
});

describe('a call that cannot be carried out', () => {
  beforeAll(start);

  it.each([
    [{ site_ids_or_domains: [], add: [1] }, 'svc_invalid_input', 'site_ids_or_domains'],
    [{ site_ids_or_domains: [1] }, 'svc_invalid_input', 'add'],
    [{ site_ids_or_domains: [1], add: ['Shops'], remove: ['shops'] }, 'svc_invalid_input', 'remove[0]'],
    [{ site_ids_or_domains: [1], remove: ['nothing'], create: true }, 'svc_tag_not_found', 'remove[0]'],
    [{ site_ids_or_domains: [1], add: [99], create: true }, 'svc_tag_not_found', 'add[0]'],
    [{ site_ids_or_domains: [1], add: ['99'], create: true }, 'svc_tag_not_found', 'add[0]'],
    [{ site_ids_or_domains: [1], add: ['x'.repeat(300)], create: true }, 'svc_invalid_input', 'add[0]'],
    [
      { site_ids_or_domains: ['nowhere.example'], add: ['New'], create: true },
      'svc_site_not_found',
      'site_ids_or_domains',
    ],
    [{ site_ids_or_domains: [1], add: 'Shops' }, 'ability_invalid_input', 'add'],
    [{ site_ids_or_domains: [1], tags: ['Shops'] }, 'ability_invalid_input', 'tags'],
  ])('changes nothing for %j', async (input, code, field) => {
    const before = await allTags();
    const { body } = await support.post('tag-sites', input);
    expect([body.code, body.data.field]).toEqual([code, field]);
    expect(await allTags()).toEqual(before);
    expect(await support.cell('SELECT count(*) FROM tag')).toBe(3);
  });
});
