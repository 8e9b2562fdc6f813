import { beforeEach, describe, expect, test } from 'vitest';
import { NOON, type OfflineApp, offlineApp, pluck } from './offline-app.js';

let app: OfflineApp;
beforeEach(async () => {
  app = await offlineApp();
});

const NOBODY = [
  'get-client',
  'update-client',
  'delete-client',
  'get-client-sites',
  'count-client-sites',
  'get-client-costs',
  'suspend-client',
  'unsuspend-client',
];

describe('a client is named by id or e-mail', () => {
  test.each(NOBODY)('%s refuses one that nobody has', async (name) => {
    await app.client('Ada', { client_email: 'ada@example.com' });
    for (const ref of [99, '99', 0, -3, 'ad@example.com', '', '12.7', '99999999999999999999']) {
      const error = await app.refusal(name, { client_id_or_email: ref });
      expect([ref, error.code, error.status, error.field]).toEqual([
        ref,
        'svc_client_not_found',
        404,
        'client_id_or_email',
      ]);
    }
  });

  test('text of digits is an id, an e-mail matches in any case', async () => {
    const id = await app.client('Ada', { client_email: 'Ada@Example.com' });
    for (const ref of [id, String(id), ' ada@EXAMPLE.com ']) {
      expect(await app.call('get-client', { client_id_or_email: ref })).toMatchObject({
        id,
        email: 'Ada@Example.com',
      });
    }
  });

  test('clients without e-mail are not found by the empty text', async () => {
    await app.client('Ada');
    await app.client('Bea');
    expect((await app.refusal('get-client', { client_id_or_email: '  ' })).code).toBe('svc_client_not_found');
  });
});

describe('list-clients, count-clients', () => {
  test('answer an empty register', async () => {
    expect(await app.call('list-clients')).toEqual({ items: [], page: 1, per_page: 20, total: 0 });
    expect(await app.call('count-clients')).toEqual({ total: 0 });
  });

  test('order by name whatever its case, then by id; a past page is empty with the same total', async () => {
    for (const name of ['beta', 'Alpha', 'Émile', 'alpha', 'Beta', 'eva']) await app.client(name);
    const all = await app.call('list-clients');
    expect(pluck(all.items, 'name')).toEqual(['Alpha', 'alpha', 'beta', 'Beta', 'eva', 'Émile']);
    const second = await app.call('list-clients', { page: 2, per_page: 2 });
    expect([pluck(second.items, 'name'), second.total]).toEqual([['beta', 'Beta'], 6]);
    expect(await app.call('list-clients', { page: 10_000, per_page: 100 })).toMatchObject({ items: [], total: 6 });
  });

  test('an item carries seven fields', async () => {
    const id = await app.client('Ada', { client_email: 'a@example.com', client_phone: '1', note: 'secret' });
    await app.site('a.example', { client: id });
    const { items } = await app.call('list-clients');
    expect(items).toEqual([
      {
        id,
        name: 'Ada',
        email: 'a@example.com',
        phone: '1',
        status: 'active',
        sites_count: 1,
        created_at: '2025-06-15T12:00:00Z',
      },
    ]);
  });

  test('search is a literal substring of name or e-mail in any case', async () => {
    await app.client('100% Wool', { client_email: 'x_y@example.com' });
    await app.client('ÉCOLE Nord');
    await app.client('100 Sheep');
    const found = async (search: string) => pluck((await app.call('list-clients', { search })).items, 'name');
    expect(await found('%')).toEqual(['100% Wool']);
    expect(await found('_')).toEqual(['100% Wool']);
    expect(await found('X_Y@EX')).toEqual(['100% Wool']);
    expect(await found(' école ')).toEqual(['ÉCOLE Nord']);
    expect(await found('e\u0301cole')).toEqual(['ÉCOLE Nord']);
    expect(await found('   ')).toHaveLength(3);
    expect(await found("' OR 1=1 --")).toEqual([]);
    expect(await found('100\0')).toEqual(['100 Sheep', '100% Wool']);
    expect(await app.call('list-clients', { search: '100', per_page: 1 })).toMatchObject({ total: 2 });
  });

  test('status filters items, totals and the count alike', async () => {
    const ada = await app.client('Ada');
    await app.client('Bea');
    await app.call('suspend-client', { client_id_or_email: ada });
    for (const [status, names] of [
      ['any', ['Ada', 'Bea']],
      ['active', ['Bea']],
      ['suspended', ['Ada']],
    ] as const) {
      const { items, total } = await app.call('list-clients', { status });
      expect([pluck(items, 'name'), total]).toEqual([names, names.length]);
      expect(await app.call('count-clients', { status })).toEqual({ total: names.length });
    }
  });

  test('include and exclude combine; empty lists filter nothing; unknown ids match nothing', async () => {
    const ids: number[] = [];
    for (const name of ['c', 'b', 'a']) ids.push(await app.client(name));
    const [c, b, a] = ids;
    const listed = async (input: object) => pluck((await app.call('list-clients', input)).items, 'id');
    expect(await listed({ include: [c, a] })).toEqual([a, c]);
    expect(await listed({ include: [a, b], exclude: [a] })).toEqual([b]);
    expect(await listed({ include: [], exclude: [] })).toEqual([a, b, c]);
    expect(await listed({ include: [99, 0, -1] })).toEqual([]);
    expect(await app.call('list-clients', { exclude: [b] })).toMatchObject({ total: 2 });
  });

  test('refuse pages outside their range and unknown fields', async () => {
    for (const input of [
      { page: 0 },
      { page: 10_001 },
      { per_page: 101 },
      { per_page: 0 },
      { status: 'Active' },
      { limit: 5 },
      { include: 5 },
    ]) {
      expect(await app.refusal('list-clients', input)).toMatchObject({
        code: 'ability_invalid_input',
        field: Object.keys(input)[0],
      });
    }
    expect((await app.refusal('count-clients', { status: 'x' })).code).toBe('ability_invalid_input');
  });
});

describe('add-client', () => {
  test('answers the whole client', async () => {
    const site = await app.site('a.example');
    const details = {
      address_1: 'Road 1',
      address_2: 'Top',
      city: 'Oslo',
      state: 'O',
      zip: '0150',
      country: 'Norway',
      note: 'Pays late',
    };
    const client = await app.call('add-client', {
      name: '  A & B ',
      client_email: ' a@example.com',
      client_phone: '+47 1',
      ...details,
      selected_sites: [site, site],
    });
    expect(client).toEqual({
      id: client.id,
      name: 'A & B',
      email: 'a@example.com',
      phone: '+47 1',
      ...details,
      status: 'active',
      sites_count: 1,
      created_at: '2025-06-15T12:00:00Z',
      updated_at: '2025-06-15T12:00:00Z',
    });
    expect(await app.call('get-client', { client_id_or_email: 'a@example.com' })).toEqual(client);
    expect(app.events).toMatchObject([
      {
        name: 'client.added',
        at: NOON,
        facts: { client_id: client.id, client_name: 'A & B', sites: 1 },
        changed: {
          record: [null, { name: 'A & B', phone: '+47 1', ...details }],
          sites: [[[site, null]], [[site, client.id]]],
        },
      },
    ]);
  });

  test('text fields are empty text when not given, and names may repeat', async () => {
    expect(await app.call('add-client', { name: 'Ada' })).toMatchObject({
      email: '',
      phone: '',
      note: '',
      sites_count: 0,
    });
    await app.client('Ada');
    expect(await app.call('count-clients')).toEqual({ total: 2 });
  });

  test('moves sites over from another client', async () => {
    const ada = await app.client('Ada');
    const site = await app.site('a.example', { client: ada });
    const bea = await app.client('Bea', { selected_sites: [site] });
    expect(await app.call('count-client-sites', { client_id_or_email: ada })).toMatchObject({ sites_count: 0 });
    expect(await app.call('get-site-client', { site_id_or_domain: site })).toMatchObject({ client: { id: bea } });
  });

  test('refuses an unknown site by its place and creates nothing', async () => {
    const ada = await app.client('Ada');
    await app.client('Zoe');
    const site = await app.site('a.example', { client: ada });
    for (const unknown of [77, 0, -1]) {
      const error = await app.refusal('add-client', { name: 'Bea', selected_sites: [site, unknown] });
      expect(error).toMatchObject({
        code: 'svc_site_not_found',
        status: 404,
        field: 'selected_sites[1]',
        data: { site_ids: [unknown] },
      });
    }
    expect(await app.call('count-clients')).toEqual({ total: 2 });
    expect(await app.call('count-client-sites', { client_id_or_email: ada })).toMatchObject({ sites_count: 1 });
    expect(app.events).toHaveLength(2);
  });

  test('refuses an e-mail in use, in any case, and moves no site', async () => {
    const ada = await app.client('Ada', { client_email: 'Ada@example.com' });
    const site = await app.site('a.example', { client: ada });
    const error = await app.refusal('add-client', {
      name: 'Bea',
      client_email: 'ada@EXAMPLE.com',
      selected_sites: [site],
    });
    expect(error).toMatchObject({ code: 'svc_already_exists', status: 409, field: 'client_email' });
    expect(await app.call('count-clients')).toEqual({ total: 1 });
    expect(await app.call('count-client-sites', { client_id_or_email: ada })).toMatchObject({ sites_count: 1 });
  });

  test('a blank name is svc_invalid_input, a missing one ability_invalid_input', async () => {
    for (const name of ['', '   ', '\u0007']) {
      expect(await app.refusal('add-client', { name })).toMatchObject({ code: 'svc_invalid_input', field: 'name' });
    }
    expect(await app.refusal('add-client')).toMatchObject({ code: 'ability_invalid_input', field: 'name' });
    expect(await app.call('add-client', { name: '0' })).toMatchObject({ name: '0' });
  });

  test.each([
    ['Jane Doe <jane@agency.com>'],
    ['a<b then c>d'],
    ['<b>Bea</b> & "Ada" \'Cyd\''],
    ['<script>alert(1)</script>'],
    ['&lt;not decoded&gt;'],
    ['I <3 you'],
  ])('keeps %j as it was given', async (text) => {
    const added = await app.call('add-client', { name: text, note: text, city: text });
    expect(added).toMatchObject({ name: text, note: text, city: text });
    const client_id_or_email = added.id;
    expect(await app.call('get-client', { client_id_or_email })).toMatchObject({ name: text, note: text, city: text });
    expect((await app.call('add-tag', { name: text })).name).toBe(text);
  });

  test.each([
    ['name', 256],
    ['client_phone', 101],
    ['address_1', 256],
    ['address_2', 256],
    ['city', 101],
    ['state', 201],
    ['zip', 33],
    ['country', 201],
    ['note', 65_536],
  ])('%s takes less than %i characters', async (field, length) => {
    const input = { name: 'Ada', [field]: 'x'.repeat(length) };
    expect(await app.refusal('add-client', input)).toMatchObject({ code: 'ability_invalid_input', field });
    await app.call('add-client', { ...input, [field]: 'x'.repeat(length - 1) });
  });

  test('refuses what is no e-mail', async () => {
    for (const client_email of ['', 'ada', 'a@b', 'a b@example.com', `${'x'.repeat(190)}@example.com`]) {
      const error = await app.refusal('add-client', { name: 'Ada', client_email });
      expect(error).toMatchObject({ code: 'ability_invalid_input', field: 'client_email' });
    }
  });

  test('a failing store is svc_client_creation_failed, one that is away svc_storage_unavailable', async () => {
    await app.db.script("CREATE TRIGGER broken BEFORE INSERT ON client BEGIN SELECT RAISE(ABORT, 'secret'); END;");
    const error = await app.refusal('add-client', { name: 'Ada' });
    expect([error.code, error.status, error.message.includes('secret')]).toEqual([
      'svc_client_creation_failed',
      500,
      false,
    ]);
    const away = Object.assign(new Error('gone'), { name: 'StorageError', kind: 'unavailable' });
    app.db.batch = () => Promise.reject(away);
    expect((await app.refusal('add-client', { name: 'Ada' })).code).toBe('svc_storage_unavailable');
  });
});

describe('update-client', () => {
  test('changes only what is given', async () => {
    const id = await app.client('Ada', { client_email: 'a@example.com', city: 'Oslo', note: 'n' });
    app.state.now += 60_000;
    const changed = await app.call('update-client', { client_id_or_email: 'a@example.com', city: '', name: 'Änne' });
    expect(changed).toMatchObject({
      id,
      name: 'Änne',
      email: 'a@example.com',
      city: '',
      note: 'n',
      created_at: '2025-06-15T12:00:00Z',
      updated_at: '2025-06-15T12:01:00Z',
    });
    expect(pluck((await app.call('list-clients', { search: 'änne' })).items, 'id')).toEqual([id]);
    expect(app.events.at(-1)).toMatchObject({
      name: 'client.updated',
      facts: { client_id: id, fields: ['name', 'city'] },
    });
  });

  test('nothing given changes nothing', async () => {
    const id = await app.client('Ada');
    const before = await app.call('get-client', { client_id_or_email: id });
    app.state.now += 60_000;
    expect(await app.call('update-client', { client_id_or_email: id })).toEqual(before);
    expect(app.events).toHaveLength(1);
  });

  test('an empty e-mail clears it, for any number of clients', async () => {
    const ada = await app.client('Ada', { client_email: 'a@example.com' });
    const bea = await app.client('Bea', { client_email: 'b@example.com' });
    for (const id of [ada, bea]) {
      expect(await app.call('update-client', { client_id_or_email: id, client_email: '' })).toMatchObject({
        email: '',
      });
    }
    expect((await app.refusal('get-client', { client_id_or_email: 'a@example.com' })).code).toBe(
      'svc_client_not_found',
    );
    await app.call('update-client', { client_id_or_email: bea, client_email: 'a@example.com' });
    expect(await app.call('get-client', { client_id_or_email: 'a@example.com' })).toMatchObject({ id: bea });
  });

  test('refuses the e-mail of another, a blank name and a malformed e-mail; its own e-mail is fine', async () => {
    await app.client('Ada', { client_email: 'a@example.com' });
    const id = await app.client('Bea', { client_email: 'b@example.com' });
    const site = await app.site('b.example', { client: id });
    const ref = { client_id_or_email: id };
    expect(
      await app.refusal('update-client', { ...ref, client_email: 'A@example.com', name: 'X', selected_sites: [] }),
    ).toMatchObject({
      code: 'svc_already_exists',
      status: 409,
    });
    expect(await app.refusal('update-client', { ...ref, name: ' ' })).toMatchObject({
      code: 'svc_invalid_input',
      field: 'name',
    });
    expect((await app.refusal('update-client', { ...ref, client_email: 'b' })).code).toBe('ability_invalid_input');
    expect(await app.call('get-client', ref)).toMatchObject({ name: 'Bea', email: 'b@example.com', sites_count: 1 });
    expect(
      await app.call('update-client', { ...ref, client_email: 'B@example.com', selected_sites: [site] }),
    ).toMatchObject({ email: 'B@example.com' });
  });

  test('selected_sites replaces, [] unassigns all, leaving it out keeps them', async () => {
    const ada = await app.client('Ada');
    const bea = await app.client('Bea');
    const [one, two, three] = [
      await app.site('1.example', { client: ada }),
      await app.site('2.example', { client: ada }),
      await app.site('3.example', { client: bea }),
    ];
    const sites = async () => pluck((await app.call('get-client-sites', { client_id_or_email: ada })).sites, 'id');
    expect(await app.call('update-client', { client_id_or_email: ada, selected_sites: [three, two] })).toMatchObject({
      sites_count: 2,
    });
    expect(await sites()).toEqual([two, three]);
    expect(await app.call('get-site-client', { site_id_or_domain: one })).toEqual({ site_id: one, client: null });
    await app.call('update-client', { client_id_or_email: ada, note: 'x' });
    expect(await sites()).toEqual([two, three]);
    await app.call('update-client', { client_id_or_email: ada, selected_sites: [] });
    expect(await sites()).toEqual([]);
  });

  test('an unknown site changes neither the sites nor the texts', async () => {
    const ada = await app.client('Ada');
    const site = await app.site('1.example', { client: ada });
    const error = await app.refusal('update-client', { client_id_or_email: ada, name: 'X', selected_sites: [404] });
    expect(error).toMatchObject({ code: 'svc_site_not_found', field: 'selected_sites[0]' });
    expect(await app.call('get-client', { client_id_or_email: ada })).toMatchObject({ name: 'Ada', sites_count: 1 });
    expect(await app.call('get-site-client', { site_id_or_domain: site })).toMatchObject({ client: { id: ada } });
  });

  test('null changes nothing, and unknown fields are refused', async () => {
    const id = await app.client('Ada', { note: 'Kept' });
    const before = await app.call('get-client', { client_id_or_email: id });
    for (const field of ['name', 'note', 'selected_sites', 'client_email'])
      expect(await app.call('update-client', { client_id_or_email: id, [field]: null })).toEqual(before);
    const error = await app.refusal('update-client', { client_id_or_email: id, email: null });
    expect(error).toMatchObject({ code: 'ability_invalid_input', field: 'email' });
  });
});

describe('delete-client', () => {
  test('previews, wants a confirmation, deletes; sites stay as they are', async () => {
    const id = await app.client('Ada', { client_email: 'a@example.com' });
    const site = await app.site('1.example', { client: id });
    const alone = await app.site('2.example', { client: id, suspended: true });
    await app.call('suspend-client', { client_id_or_email: id });
    expect(await app.call('delete-client', { client_id_or_email: id, dry_run: true })).toEqual({
      dry_run: true,
      needs_approval: null,
      deleted: false,
      client_id: id,
      client_name: 'Ada',
      sites_affected: 2,
      sites_suspended: 2,
      warnings: [
        '2 sites stay, without a client.',
        'Of these, 2 are suspended and stay so; unsuspend-site-v1 lifts that.',
      ],
    });
    for (const confirm of [{}, { confirm: false }, { confirm: 'false' }]) {
      const error = await app.refusal('delete-client', { client_id_or_email: id, ...confirm });
      expect([error.code, error.status]).toEqual(['svc_confirmation_required', 400]);
    }
    expect(await app.call('count-clients')).toEqual({ total: 1 });
    expect(await app.call('delete-client', { client_id_or_email: 'a@example.com', confirm: true })).toEqual({
      deleted: true,
      client_id: id,
      client_name: 'Ada',
      sites_affected: 2,
      sites_suspended: 2,
    });
    expect(await app.call('get-site-client', { site_id_or_domain: site })).toEqual({ site_id: site, client: null });
    for (const left of [site, alone])
      expect(await app.cell('SELECT status FROM site WHERE id = ?', left)).toBe('suspended');
    expect(app.events.at(-1)).toMatchObject({ name: 'client.deleted', facts: { client_id: id, sites: 2 } });
    expect(await app.cell("SELECT n FROM site_count WHERE status = 'suspended'")).toBe(2);
    expect((await app.refusal('delete-client', { client_id_or_email: id, confirm: true })).code).toBe(
      'svc_client_not_found',
    );
  });

  test('a missing client beats a missing confirmation; a contradiction beats both', async () => {
    const both = { client_id_or_email: 5, confirm: true, dry_run: true };
    expect((await app.refusal('delete-client', { client_id_or_email: 5 })).code).toBe('svc_client_not_found');
    expect((await app.refusal('delete-client', both)).code).toBe('svc_invalid_input');
    expect((await app.refusal('delete-client', { client_id_or_email: 5, confirm: 'yes' })).code).toBe(
      'ability_invalid_input',
    );
  });

  test('warns of nothing when there are no sites', async () => {
    const id = await app.client('Ada');
    expect(await app.call('delete-client', { client_id_or_email: id, dry_run: true })).toMatchObject({
      sites_affected: 0,
      warnings: [],
    });
  });

  test('a failing store is svc_client_deletion_failed', async () => {
    const id = await app.client('Ada');
    await app.db.script("CREATE TRIGGER broken BEFORE DELETE ON client BEGIN SELECT RAISE(ABORT, 'x'); END;");
    expect((await app.refusal('delete-client', { client_id_or_email: id, confirm: true })).code).toBe(
      'svc_client_deletion_failed',
    );
  });
});

describe('sites of a client', () => {
  test('are listed in URL order with their real status, a page at a time', async () => {
    const id = await app.client('Ada');
    await app.site('c.example', { client: id });
    await app.site('a.example', { client: id, suspended: true, name: 'First' });
    await app.site('b.example', { client: id, disconnected: true });
    await app.site('z.example');
    const ref = { client_id_or_email: id };
    const all = await app.call('get-client-sites', ref);
    expect(all).toMatchObject({ client_id: id, client_name: 'Ada', page: 1, per_page: 20, total: 3 });
    expect(pluck(all.sites, 'status')).toEqual(['suspended', 'disconnected', 'connected']);
    expect((all.sites as unknown[])[0]).toEqual({
      id: 2,
      url: 'https://a.example/',
      name: 'First',
      status: 'suspended',
    });
    const second = await app.call('get-client-sites', { ...ref, page: 2, per_page: 2 });
    expect([pluck(second.sites, 'url'), second.total]).toEqual([['https://c.example/'], 3]);
    expect(await app.call('get-client-sites', { ...ref, page: 9 })).toMatchObject({ sites: [], total: 3 });
    expect(await app.call('count-client-sites', ref)).toEqual({ client_id: id, client_name: 'Ada', sites_count: 3 });
    expect((await app.refusal('get-client-sites', { ...ref, per_page: 101 })).code).toBe('ability_invalid_input');
  });
});

describe('suspend-client, unsuspend-client', () => {
  test('take the sites along; suspended ones are counted whoever suspended them, lifted ones when they changed', async () => {
    const id = await app.client('Ada');
    const other = await app.site('other.example');
    const first = await app.site('1.example', { client: id });
    const fine = await app.site('2.example', { client: id });
    await app.site('3.example', { client: id, suspended: true });
    const ref = { client_id_or_email: id };
    app.state.now += 60_000;
    const answer = { client_id: id, client_name: 'Ada' };
    expect(await app.call('suspend-client', ref)).toEqual({ suspended: true, ...answer, sites_suspended: 3 });
    expect(await app.call('suspend-client', ref)).toEqual({ suspended: true, ...answer, sites_suspended: 3 });
    expect(await app.call('get-client', ref)).toMatchObject({
      status: 'suspended',
      updated_at: '2025-06-15T12:01:00Z',
    });
    expect(await app.cell('SELECT n FROM site_count WHERE status = ?', 'suspended')).toBe(3);
    expect(await app.call('unsuspend-client', ref)).toEqual({ unsuspended: true, ...answer, sites_unsuspended: 3 });
    expect(await app.call('unsuspend-client', ref)).toEqual({ unsuspended: true, ...answer, sites_unsuspended: 0 });
    const status = (site: number) => app.cell('SELECT status FROM site WHERE id = ?', site);
    for (const site of [first, fine, other]) expect(await status(site)).toBe('connected');
    expect(app.events.map(({ name, site_id }) => [name, site_id])).toEqual([
      ['client.added', undefined],
      ['client.suspended', undefined],
      ['site.suspended', first],
      ['site.suspended', fine],
      ['client.unsuspended', undefined],
      ['site.unsuspended', first],
      ['site.unsuspended', fine],
      ['site.unsuspended', 4],
    ]);
  });

  test('change the client and its sites together or not at all', async () => {
    const id = await app.client('Ada');
    await app.site('1.example', { client: id });
    await app.db.script(
      "CREATE TRIGGER broken BEFORE UPDATE OF suspended ON site BEGIN SELECT RAISE(ABORT, 'x'); END;",
    );
    expect((await app.refusal('suspend-client', { client_id_or_email: id })).code).toBe('svc_client_update_failed');
    expect(await app.call('get-client', { client_id_or_email: id })).toMatchObject({ status: 'active' });
  });
});

describe('get-site-client', () => {
  test('answers the client of a site by id or domain, or null', async () => {
    const id = await app.client('Ada', { client_email: 'a@example.com', note: 'n' });
    const site = await app.site('a.example', { client: id });
    await app.site('b.example');
    expect(await app.call('get-site-client', { site_id_or_domain: 'www.a.example' })).toEqual({
      site_id: site,
      client: { id, name: 'Ada', email: 'a@example.com', status: 'active' },
    });
    expect(await app.call('get-site-client', { site_id_or_domain: 'b.example' })).toMatchObject({ client: null });
    expect(await app.refusal('get-site-client', { site_id_or_domain: 'c.example' })).toMatchObject({
      code: 'svc_site_not_found',
      status: 404,
    });
  });
});

test.each([
  ['update-client', { name: 'X', selected_sites: [1] }],
  ['suspend-client', {}],
  ['unsuspend-client', {}],
  ['delete-client', { confirm: true }],
])('%s of a client that is deleted meanwhile finds none', async (name, input) => {
  const id = await app.client('Ada');
  await app.site('1.example');
  app.meanwhile(() => app.db.run('DELETE FROM client'));
  expect(await app.refusal(name, { client_id_or_email: id, ...input })).toMatchObject({
    code: 'svc_client_not_found',
  });
  expect(app.events).toHaveLength(1);
});

test('a login that may only read changes nothing', async () => {
  const id = await app.client('Ada');
  app.state.rights = ['read'];
  expect((await app.refusal('update-client', { client_id_or_email: id, name: 'X' })).code).toBe(
    'svc_permission_denied',
  );
  expect(await app.call('get-client', { client_id_or_email: id })).toMatchObject({ name: 'Ada' });
});

test('sites_count of a page is one statement, however many clients and sites there are', async () => {
  for (let n = 0; n < 30; n++) {
    const id = await app.client(`Client ${n}`);
    await app.site(`${n}.example`, { client: id });
  }
  app.db.reset();
  const { items } = await app.call('list-clients', { per_page: 30 });
  expect(new Set(pluck(items, 'sites_count'))).toEqual(new Set([1]));
  expect(app.db.counts).toEqual({ calls: 1, statements: 2 });
});
