/** CSV lists, and leaving: the list and the sealed file that another Sitefleet accepts. */

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompactEncrypt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../../src/demo/fleet.js';
import { parseCsv } from '../../src/domain/import/csv.js';
import { readRows } from '../../src/domain/import/rows.js';
import { passphraseKey, sealFile } from '../../src/domain/import/sealed.js';
import { openDb } from '../../src/store/driver/open.js';
import { closing } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { functionsOf } from './dashboard.js';
import { type Program, program } from './program.js';

const folder = mkdtempSync(join(tmpdir(), 'sitefleet-lists-'));
const PASSWORD = 'se,cr"et';
let fleet: Fleet;
let here: Program;
const file = (name: string, content: string) => writeFileSync(join(folder, name), content);
const text = (name: string) => readFileSync(join(folder, name), 'utf8');
const url = (index: number) => fleet.site(index).url;
const urls = (list: { url: string }[]) => list.map((each) => each.url);

/** A service on a database of the program. */
function serviceOn(database: string, sites = 1): Promise<TestApp> {
  return testApp({
    sites,
    realClock: true,
    config: { db: `file:${join(folder, database)}`, secret_key: null, secret_key_file: join(folder, 'secret.key') },
  });
}

beforeAll(async () => {
  fleet = closing(await startFleet({ sites: 8, seed: 11, password: PASSWORD, admin: 'boss' }));
  here = program(folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

describe('CSV', () => {
  it.each([
    [
      'a,b\r\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['\uFEFFa,"b,""c"""\n', [['a', 'b,"c"']]],
    ['a, "two\nlines" ,c\rd', [['a', 'two\nlines', 'c'], ['d']]],
    ['# note\n\n,\n a ,', [['a', '']]],
    ['""', []],
    ['', []],
  ])('reads %j', (source, cells) => {
    const { rows, problem } = parseCsv(source);
    expect([rows.map((row) => row.cells), problem]).toEqual([cells, null]);
  });

  it('names the line of what it cannot read', () => {
    expect(parseCsv('a\n"b\nc').problem).toEqual({ line: 2, message: 'A quote is opened and not closed.' });
    expect(parseCsv('a\n\n"b" c').problem).toEqual({ line: 3, message: 'There is text after a closing quote.' });
    expect(parseCsv('"a\nb",c\nd').rows.map((row) => row.line)).toEqual([1, 3]);
  });

  it('takes the name of a member that every object has for a wrong value', () => {
    const { rows, invalid } = readRows(
      'url,admin,password,ssl_verify,ssl_version\na.example,boss,pw,constructor,\nb.example,boss,pw,1,valueOf\n',
    );
    expect(rows).toEqual([]);
    expect(invalid.map(({ where, message }) => [where, message])).toEqual([
      ['line 2, column 4 (ssl_verify)', 'must be 1 or 0.'],
      ['line 3, column 5 (ssl_version)', 'must be auto, 1.2 or 1.3.'],
    ]);
  });

  it('reads the ten columns of the original, its letters and its TLS words', () => {
    const line = (verify: string, tls: string) => `One,one.example,boss,pw,"Shops, VIP",UID,hu,hp,${verify},${tls}`;
    const { rows, invalid } = readRows(
      ['# comment', line('T', '1.2'), line('Y', '1.x'), line('', ''), line('2', '1.3')].join('\n'),
    );
    expect(rows.map((row) => [row.ssl_verify, row.ssl_version])).toEqual([
      [true, 6],
      [false, 0],
      [true, 0],
    ]);
    expect(rows[0]).toMatchObject({
      line: 2,
      url: 'https://one.example',
      admin: 'boss',
      password: 'pw',
      tags: ['Shops', 'VIP'],
      unique_id: 'UID',
      http_user: 'hu',
      http_pass: 'hp',
    });
    expect(invalid).toEqual([
      { where: 'line 5, column 9 (ssl_verify)', url: 'one.example', message: 'must be 1 or 0.' },
    ]);
  });
});

describe('import of a list', () => {
  it('never prints the login of an address', async () => {
    file(
      'logins.csv',
      [
        'url,admin,password',
        'https://ada:s3cret@x.example/,boss,pw',
        'https://ada:s3cret@y.example/,,pw',
        'ada:s3cret@z.example,,pw',
        'https://ada:s3/cret@w.example/,,pw',
      ].join('\n'),
    );
    const { out, err } = await here.run(['import', 'logins.csv', '--dry-run', '--json']);
    expect(out + err).not.toMatch(/s3cret|s3\/cret/);
    expect(urls(JSON.parse(out).invalid).sort()).toEqual([
      'https://…@w.example/',
      'https://…@x.example/',
      'https://…@y.example/',
      '…@z.example',
    ]);
  });

  it('connects the good rows, names the bad ones, and is repeatable', async () => {
    const quoted = `"${PASSWORD.replaceAll('"', '""')}"`;
    file(
      'sites.csv',
      [
        'url,name,admin,password,tags,unique_id',
        `${url(0)},First,boss,${quoted},"Shops;VIP",${fleet.site(0).uniqueId}`,
        `${url(1)},Second,,${quoted},,`,
        `${url(2)},Third,boss,incorrect!,,${fleet.site(2).uniqueId}`,
        `ftp://x.example/,Fourth,boss,${quoted},,`,
        `${url(0)},Twice,boss,${quoted},,`,
        `${url(3)},Fifth,boss,,,${fleet.site(3).uniqueId}`,
        `${url(4)},Sixth,boss,${quoted},,,extra`,
      ].join('\r\n'),
    );
    const dry = await here.json(['import', 'sites.csv', '--dry-run']);
    expect(urls(dry.imported)).toEqual([url(0), url(2), url(3)]);
    expect(functionsOf(fleet)).toEqual(new Set());

    // One row has no password: it is read from standard input, never from the command line.
    const { code, out, err } = await here.run(
      ['import', 'sites.csv', '--json', '--password-file', '-'],
      `${PASSWORD}\n`,
    );
    expect(code, err).toBe(1);
    const report = JSON.parse(out);
    expect(urls(report.imported)).toEqual([url(0), url(3)]);
    expect(report.unreachable).toEqual([
      expect.objectContaining({ url: url(2), site_id: null, code: 'svc_invalid_credentials' }),
    ]);
    expect(report.invalid.map((each: { where: string }) => each.where)).toEqual([
      'line 3, column 3 (admin)',
      'line 8, column 7',
      'line 5 (url)',
      'line 6 (url)',
    ]);
    for (const secret of [PASSWORD, 'incorrect!']) expect(out + err).not.toContain(secret);
    const again = await here.json(['import', 'sites.csv', '--password-file', '-'], PASSWORD);
    expect(urls(again.exists).sort()).toEqual([url(0), url(3)].sort());
    expect(again.imported).toEqual([]);
  });

  it('refuses what is no list, and a trial without keys', async () => {
    file('none.csv', 'url,colour\nhttp://x.example,red\n');
    const none = await here.run(['import', 'none.csv']);
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining('Line 1, column 2: "colour" is not a known column'),
    ]);
    const trial = await here.run(['import', 'sites.csv', '--parallel']);
    expect([trial.code, trial.err]).toEqual([1, expect.stringContaining('--parallel needs the keys')]);
    const missing = await here.run(['import', 'not-there.csv']);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('not-there.csv cannot be read')]);
  });
});

describe('export', () => {
  it('goes to another Sitefleet with all that belongs to the sites, sealed to its key', async () => {
    // Services on the two databases, to set things up and to check the result.
    const there = program(folder, 'other.db');
    await there.run(['migrate']);
    const [source, target] = await Promise.all(['fleet.db', 'other.db'].map((name) => serviceOn(name)));
    if (source === undefined || target === undefined) throw new Error('no service');
    const [site] = (await source.call('list-sites')).items;
    const client = await source.call('add-client', {
      name: 'Acme',
      client_email: 'a@acme.example',
      selected_sites: [site.id],
    });
    await source.call('suspend-client', { client_id_or_email: client.id });
    await source.call('unsuspend-client', { client_id_or_email: client.id });
    await source.call('update-site', { site_id_or_domain: site.id, notes: 'two\nlines' });
    await source.call('ignore-site-plugins', { site_id_or_domain: site.id, slugs: ['a/a.php'], action: 'add' });

    const key = await there.run(['import', 'key']);
    expect(key.out).toMatch(/^Key-Id: [0-9a-f]{12}\n-----BEGIN PUBLIC KEY-----/);
    file('key.pem', key.out);
    const exported = await here.run(['export', 'leaving.json', '--to', 'key.pem']);
    expect(exported.code, exported.err).toBe(0);
    expect(statSync(join(folder, 'leaving.json')).mode & 0o777).toBe(0o600);
    expect(text('leaving.json')).not.toMatch(/PRIVATE KEY|Acme/);
    // An existing file is not overwritten, and a file sealed for another key cannot be imported here.
    expect((await here.run(['export', 'leaving.json', '--to', 'key.pem'])).err).toContain('exists already');
    expect((await here.run(['import', 'leaving.json'])).err).toContain('key that is not here');

    for (const each of fleet.sites) each.calls.length = 0;
    const report = await there.json(['import', 'leaving.json']);
    expect(report.source.product).toBe('sitefleet');
    expect(report).toMatchObject({
      unreachable: [],
      invalid: [],
      warnings: [],
      tags: { added: 2 },
      clients: { added: 1 },
    });
    expect(functionsOf(fleet)).toEqual(new Set(['stats']));
    const [ours, theirs] = await Promise.all([
      source.call('get-site', { site_id_or_domain: site.url }),
      target.call('get-site', { site_id_or_domain: site.url }),
    ]);
    const same = ({ id: _i, client_id: _c, last_sync: _l, ...rest }: Record<string, unknown>) => rest;
    expect(same(theirs)).toEqual(same(ours));
    expect((await target.call('get-client', { client_id_or_email: 'a@acme.example' })).sites_count).toBe(1);
    const lists = await Promise.all([source.call('list-ignored-updates'), target.call('list-ignored-updates')]);
    expect(lists[1].ignored).toEqual(lists[0].ignored.map((entry: object) => ({ ...entry, site_id: theirs.id })));
  });

  it('goes by passphrase, too, which must be the right one', async () => {
    file('pass', 'correct horse battery\n');
    file('wrong', 'incorrect horse battery\n');
    expect((await here.run(['export', 'short.json', '--passphrase-file', '-'], 'short')).err).toContain('at least 12');
    expect((await here.run(['export'])).err).toContain('Choose how to encrypt');
    const { out, code } = await here.run(['export', '--passphrase-file', 'pass']);
    expect(code).toBe(0);
    file('by-pass.json', out);
    const there = program(folder, 'third.db');
    expect((await there.run(['import', 'by-pass.json', '--passphrase-file', 'wrong'])).err).toContain(
      'does not open it',
    );
    expect((await there.json(['import', 'by-pass.json', '--passphrase-file', 'pass'])).imported).toHaveLength(2);
  });

  it('writes a list without secrets, in the columns of the original', async () => {
    const { out } = await here.run(['export', '--csv']);
    const [header, ...rows] = out.trim().split('\r\n');
    expect(header).toBe(
      'Site Name,Url,Admin Name,Admin Password,Tag,Security ID,HTTP Username,HTTP Password,Verify Certificate,SSL Version',
    );
    expect(rows).toContain(`First,${url(0)},boss,,"Shops;VIP",,,,1,auto`);
    const report = readRows(out);
    expect([report.rows.length, report.invalid]).toEqual([2, []]);
  });

  it('writes names that a spreadsheet would run as formulas as text, and reads them again as they were', async () => {
    const names = [
      ...['=SUM("1","2")', '+1+1', '-2+3', '@SUM(A1)', '＝1+1', "'=kept"],
      // Where lists are separated by semicolons, a spreadsheet takes each part for a cell.
      ...['Shop;=1+1;x', 'Shop;;@SUM(A1)', "Shop;'=kept"],
    ];
    const app = await serviceOn('formulas.db', names.length);
    for (const [i, name] of names.entries()) {
      await app.connect(i);
      await app.call('update-site', { site_id_or_domain: i + 1, name });
    }
    await app.close();
    const there = program(folder, 'formulas.db');
    const { out, err } = await there.run(['export', '--csv']);
    expect(err).toBe('');
    const cells = parseCsv(out)
      .rows.slice(1)
      .flatMap((row) => row.cells);
    expect(cells.length).toBeGreaterThan(names.length);
    for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@＝]/);
    for (const cell of out.split(/[;\t\r\n]/)) expect(cell).not.toMatch(/^[=+\-@＝]/);
    expect(out).toContain(`"Shop;'=1+1;x",`);
    const { rows } = readRows(out);
    expect(rows.map((row) => row.name).sort()).toEqual([...names].sort());
  });

  it('names the sites whose secrets cannot be opened, and writes all others; a list needs no secrets', async () => {
    const app = await serviceOn('sealed.db', 3);
    for (const i of [0, 1, 2]) await app.connect(i);
    const [first, second, third] = app.fleet.sites.map((site) => site.url);
    // Sealed under a key that is not here; and one that "rotate-key --lost-key" has given up.
    await app.db.run(
      'UPDATE site_secret SET http_pass = replace(private_key, substr(private_key, -12), ?) WHERE site_id = 2',
      ['AAAAAAAAAAAA'],
    );
    await app.db.run('DELETE FROM site_secret WHERE site_id = 3');
    const from = program(folder, 'sealed.db');
    file('pass', 'correct horse battery\n');
    for (const name of [['sealed.json'], []]) {
      const { code, out, err } = await from.run(['export', ...name, '--passphrase-file', 'pass']);
      expect([code, err]).toEqual([1, expect.stringMatching(/^2 of 3 sites are not in it: .*"sitefleet check"/m)]);
      for (const [id, address] of [
        [2, second],
        [3, third],
      ])
        expect(err).toContain(`  ${address} (site ${id})`);
      expect(err).not.toContain(first);
      expect(err).not.toContain('of all sites');
      if (name.length === 0) file('sealed-out.json', out);
    }
    const there = program(folder, 'sealed-there.db');
    await there.run(['migrate']);
    for (const name of ['sealed.json', 'sealed-out.json']) {
      const report = await there.json(['import', name, '--passphrase-file', 'pass']);
      expect([...report.imported, ...report.exists].map(({ url }: { url: string }) => url)).toEqual([first]);
    }
    const list = await from.run(['export', '--csv']);
    expect([list.code, list.err, urls(readRows(list.out).rows)]).toEqual([0, '', [first, second, third]]);
  });

  it('takes no cell and no key derivation without bound', async () => {
    expect(() => readRows(`url,admin,name\na.example,boss,"${'x'.repeat(60_000_000)}"\n`)).toThrow(
      /Line 2: A cell is longer than 100000 characters/,
    );
    expect(() => readRows(`url,admin,name\na.example,boss,${'y'.repeat(200_000)}\n`)).toThrow(/Line 2: A cell/);
    expect(() => readRows(`url,admin\n"${'""'.repeat(3_000_000)}`)).toThrow(/A quote is opened and not closed/);
    file('pass', 'correct horse battery\n');
    for (const scrypt of [
      { n: 20_000, r: 8, p: 1 },
      { n: 1_048_576, r: 16, p: 1 },
      { n: 2, r: 8, p: 1 },
    ]) {
      const odd = { sitefleet_fleet: 1, from: 'sitefleet', scrypt: { ...scrypt, salt: 'a'.repeat(22) }, sealed: ['x'] };
      file('odd.json', JSON.stringify(odd));
      const { code, err } = await here.run(['import', 'odd.json', '--passphrase-file', 'pass']);
      expect([code, err]).toEqual([1, expect.stringMatching(/The cost of deriving its key \(scrypt\) is not usable/)]);
      expect(err).not.toMatch(/Invalid|openssl|ERR_/i);
    }
  });
});

describe('a sealed page', () => {
  const sealed = async (content: Uint8Array, more: object = {}) => {
    const scrypt = { n: 16_384, r: 8, p: 1, salt: 'a'.repeat(22) };
    const key = await passphraseKey('correct horse battery', scrypt);
    const header = { alg: 'dir', enc: 'A256GCM', run: 'r', part: 0, last: true, ...more };
    const page = await new CompactEncrypt(content).setProtectedHeader(header).encrypt(key);
    file('page.json', JSON.stringify({ sitefleet_fleet: 1, from: 'sitefleet', scrypt, sealed: [page] }));
    file('pass', 'correct horse battery\n');
    const { code, out, err } = await here.run(['import', 'page.json', '--passphrase-file', 'pass']);
    return { code, said: `${out}${err}` };
  };

  it('that is no JSON is refused without a word of it, which may be a key', async () => {
    const { code, said } = await sealed(Buffer.from('-----BEGIN PRIVATE KEY-----'));
    expect([code, said]).toEqual([
      1,
      expect.stringContaining('The file cannot be used. One of its pages has no records.'),
    ]);
    expect(said).not.toMatch(/BEGIN|-----|token|JSON/);
  });

  it('that was compressed to a bomb is not unpacked', async () => {
    const { code, said } = await sealed(Buffer.alloc(50_000_000, ' '), { zip: 'DEF' });
    expect([code, said]).toEqual([1, expect.stringContaining('does not open it, or it was modified')]);
  });
});

describe('records that cannot be used', () => {
  /** What a file may hold in place of a value. */
  const ODD: readonly unknown[] = [
    { toString: 1, valueOf: 1 },
    { toString: null },
    JSON.parse('['.repeat(2_500) + ']'.repeat(2_500)),
    [[]],
    99_999_999_999_999,
    -1,
    '9'.repeat(30),
    true,
    'a\u0000b',
    '\ud800',
    'x'.repeat(70_000),
  ];
  /** One for each member and odd value, each with an id of its own. */
  const oddOnes = (base: object, make: (row: Record<string, unknown>, id: number) => unknown, from: number) =>
    Object.keys(base).flatMap((name, at) =>
      ODD.map((value, turn) => {
        const id = from + at * ODD.length + turn;
        return make({ ...base, [name]: value }, id);
      }),
    );
  const imported = async (product: 'mainwp' | 'sitefleet', records: unknown[]) => {
    const sites = records.filter((record) => (record as { type?: unknown } | null)?.type === 'site').length;
    const all = [{ type: 'source', product, version: '1', url: 'https://ada:s3cret@old.example/' }, ...records];
    let sealed = '';
    async function* given() {
      yield* [...all, { type: 'end', sites }];
    }
    for await (const part of sealFile(given(), { passphrase: 'correct horse battery' })) sealed += part;
    file('odd.json', sealed.replace('"from":"sitefleet"', `"from":"${product}"`));
    file('pass', 'correct horse battery\n');
    const there = program(folder, `odd-${product}.db`);
    await there.run(['migrate']);
    const report = await there.json(['import', 'odd.json', '--passphrase-file', 'pass']);
    return { sites, report, said: JSON.stringify(report) };
  };
  const others = [null, 7, 'text', [], { type: { toString: 1 } }, { type: 'newer' }, {}];

  it('of a MainWP Dashboard are named and left out, and all others are imported', async () => {
    const { private_key: key } = await testKey;
    const row = { name: 'n', adminname: 'boss', uniqueId: '', note: '', http_user: '', http_pass: '' };
    const switches = { verify_certificate: 1, force_use_ipv4: 2, ssl_version: 0, client_id: 0, health_threshold: 0 };
    const lists = { ignored_plugins: '', ignored_themes: '', is_ignoreCoreUpdates: 0, automatic_update: 0 };
    const more = { options: {}, tags: [], monitors: [], key };
    const option = { signature_algo: 1, register_verify_key: '', monitoring_notification_emails: '' };
    const monitor = {
      issub: 0,
      active: 1,
      interval: 5,
      maxretries: 0,
      type: 'http',
      up_status_codes: '200',
      keyword: '',
    };
    // Suspended sites are not contacted.
    const site = (change: object, id: number, beside: object = {}) => ({
      type: 'site',
      ...more,
      row: { id, ...row, suspended: 1, url: `https://odd-${id}.example/`, ...change },
      ...beside,
    });
    const client = { name: 'c', client_email: '', city: '', note: '', suspended: 0, client_facebook: '' };
    const cost = { name: 'c', url: '', type: 'subscription', product_type: '', price: '5', renewal_type: 'yearly' };
    const dated = {
      ...cost,
      license_type: 'single_site',
      cost_status: 'active',
      last_renewal: 1_700_000_000,
      sites: '',
      note: '',
    };
    const { sites, report, said } = await imported('mainwp', [
      ...others,
      ...oddOnes({ signature_algo: 1, verify: 1, ipv4: 1, monitoring: {} }, (odd) => ({ type: 'global', ...odd }), 0),
      ...oddOnes({ ...row, ...switches, ...lists }, (odd, id) => site(odd, id), 1_000),
      ...ODD.map((odd, at) => site({ url: odd }, 1_800 + at)),
      ...ODD.map((odd, at) => site({ id: odd }, 1_900 + at)),
      ...oddOnes(more, (odd, id) => site({}, id, odd), 2_000),
      ...oddOnes(option, (odd, id) => site({}, id, { options: odd }), 3_000),
      ...oddOnes(monitor, (odd, id) => site({}, id, { monitors: [odd] }), 4_000),
      ...oddOnes({ id: 1, name: 't', color: '#aabbcc' }, (odd, id) => ({ type: 'tag', row: { id, ...odd } }), 0),
      ...oddOnes(client, (odd, id) => ({ type: 'client', row: { ...odd, client_id: id } }), 1),
      ...oddOnes(
        { contacts: [], fields: [] },
        (odd, id) => ({ type: 'client', row: { ...client, client_id: id }, ...odd }),
        500,
      ),
      ...oddOnes(
        { label: 'l', value: 'v' },
        (odd, id) => ({ type: 'client', row: { client_id: id, name: 'f' }, fields: [odd] }),
        800,
      ),
      ...oddOnes(dated, (odd, id) => ({ type: 'cost', row: { id, ...odd } }), 0),
      ...oddOnes({ site: [], tag: [] }, (targets, id) => ({ type: 'cost', row: { id, ...dated }, targets }), 900),
      ...oddOnes({ ignored_plugins: '', ignored_wp_upgrades: '' }, (odd) => ({ type: 'ignored', row: odd }), 0),
      ...ODD.flatMap((odd) => ['site', 'tag', 'client', 'cost', 'ignored'].map((type) => ({ type, row: odd }))),
      { type: 'tag', row: { id: 99_999, name: 'Last' } },
      { type: 'client', row: { client_id: 99_999, name: 'Last' } },
      { type: 'cost', row: { ...dated, id: 99_999, name: 'Last' } },
      site({ name: 'Last' }, 99_999),
    ]);
    expect(report.imported.length + report.exists.length + report.invalid.length).toBe(sites);
    expect(report.imported).toContainEqual(
      expect.objectContaining({ url: 'https://odd-99999.example/', name: 'Last' }),
    );
    expect(report.warnings).toContainEqual('Record 2 of the file cannot be imported: it is not an object.');
    expect(said).toMatch(/A cost cannot be imported \(c\): last_renewal: /);
    expect(said).toMatch(/A client cannot be imported/);
    expect(said).toMatch(/A tag cannot be imported/);
    expect(report.invalid).toContainEqual({ where: 'site 1800', url: '', message: expect.stringMatching(/^url: /) });
  });

  it('of another Sitefleet are refused with an address that holds a login, without the login, and for mails to others', async () => {
    const { private_key } = await testKey;
    const monitor = { active: null, interval: null, timeout: null, maxretries: null, type: null, method: null };
    // Suspended sites are not contacted.
    const site = (id: number, change: object) => ({
      type: 'site',
      site: {
        ...{
          key: `site:${id}`,
          url: `https://s${id}.example/`,
          admin: 'boss',
          name: 'n',
          private_key,
          regverify: null,
        },
        ...{ unique_id: '', http_user: null, http_pass: null, ssl_verify: true, ssl_version: 0, force_use_ipv4: 2 },
        ...{ notes: '', client: null, suspended: true, tags: [], automatic_update: false, backup_before_upgrade: 2 },
        ...{ disable_health_checking: 2, health_threshold: 0, monitoring_emails: '', ignore_core: false },
        ...{ ignore_plugins: false, ignore_themes: false, ignored: [], trial_obstacle: '' },
        monitor: { ...monitor, expected_status: null, keyword: null },
        ...change,
      },
    });
    const addresses = (count: number) => Array.from({ length: count }, (_none, at) => `a${at}@x.example`).join(',');
    const { report, said } = await imported('sitefleet', [
      site(1, { monitoring_emails: ` ${addresses(20).replaceAll(',', ' , ')} ` }),
      site(2, { url: 'https://ada:s3cret@s2.example/' }),
      site(3, { url: 'https:ada:s3cret@s3.example/', name: 7 }),
      site(4, { monitoring_emails: 'a@x.example\r\nBcc: all@x.example' }),
      site(5, { monitoring_emails: addresses(21) }),
      site(6, { monitoring_emails: ' '.repeat(300_000) }),
      site(7, { url: 'https://s7.example/\u202E', name: 7 }),
    ]);
    expect(said).not.toContain('s3cret');
    expect(urls(report.imported)).toEqual(['https://s1.example/']);
    const stored = await openDb(`file:${join(folder, 'odd-sitefleet.db')}`);
    closing(stored);
    expect(await stored.all('SELECT monitoring_emails FROM site_detail')).toEqual([
      { monitoring_emails: addresses(20) },
    ]);
    expect(said).not.toContain('\u202E');
    expect(report.invalid.map(({ url, message }: { url: string; message: string }) => [url, message])).toEqual([
      ['…@s3.example/', expect.stringMatching(/^name: /)],
      ['https://s4.example/', 'monitoring_emails: must be at most 20 e-mail addresses, comma-separated.'],
      ['https://s5.example/', 'monitoring_emails: must be at most 20 e-mail addresses, comma-separated.'],
      ['https://s6.example/', expect.stringMatching(/^monitoring_emails: /)],
      ['https://s7.example/', expect.stringMatching(/^name: /)],
      ['https://…@s2.example/', 'url must not contain a login: use http_user and http_pass.'],
    ]);
  });

  it('of another Sitefleet are named and left out, each ignored update by itself', async () => {
    const ignored = { type: 'plugin', slug: 'a/a.php', name: 'A', version: '*' };
    const { report, said } = await imported('sitefleet', [
      ...others,
      ...ODD.flatMap((odd) => ['site', 'tag', 'client', 'cost', 'ignored'].map((type) => ({ type, [type]: odd }))),
      ...ODD.map((odd) => ({ type: 'ignored', ignored: [{ ...ignored, slug: odd }] })),
      { type: 'ignored', ignored: [ignored, { ...ignored, version: 7 }] },
      { type: 'tag', tag: { key: 'tag:1', name: 'Last', color: null } },
    ]);
    expect(report.invalid).toHaveLength(ODD.length);
    expect(report).toMatchObject({ tags: { added: 1 }, ignored_everywhere: expect.any(Number) });
    expect(report.ignored_everywhere).toBeGreaterThan(0);
    expect(said).toMatch(/An ignored update cannot be imported \(A\): version: /);
  });
});

describe('a run that is killed', () => {
  it('is completed by the next one, and each site is stored once', async () => {
    const from = program(folder, 'from.db');
    await from.run(['migrate']);
    // All sites share one key, which makes connecting them quick.
    const app = await serviceOn('from.db', 20);
    const many = app.fleet;
    const there = program(folder, 'killed.db');
    try {
      for (let index = 0; index < 20; index += 1) await app.connect(index);
      await there.run(['migrate']);
      file('key2.pem', (await there.run(['import', 'key'])).out);
      await from.run(['export', 'many.json', '--to', 'key2.pem']);
      let answered = 0;
      for (const site of many.sites) {
        site.calls.length = 0;
        site.faults.latencyMs = () => (answered++ < 8 ? 0 : 60_000);
      }
      const cut = there.start(['import', 'many.json', '--json']);
      const gone = new Promise((done) => cut.once('exit', done));
      while (many.sites.filter((site) => site.calls.length > 0).length < 9)
        await new Promise((again) => setTimeout(again, 20));
      // The answers that arrived are being stored.
      const reader = await openDb(`file:${join(folder, 'killed.db')}`, { mode: 'reader' });
      await expect.poll(async () => Number((await reader.one('SELECT count(*) AS n FROM site'))?.n)).toBeGreaterThan(0);
      await reader.close();
      cut.kill('SIGKILL');
      await gone;
      // When stopped, it reports what was left.
      for (const site of many.sites) site.faults.latencyMs = 60_000;
      const asked = there.start(['import', 'many.json', '--json']);
      let said = '';
      asked.stdout?.on('data', (chunk) => (said += String(chunk)));
      const ended = new Promise((done) => asked.once('close', done));
      const before = many.sites.reduce((sum, site) => sum + site.requests, 0);
      while (many.sites.reduce((sum, site) => sum + site.requests, 0) === before)
        await new Promise((again) => setTimeout(again, 20));
      asked.kill('SIGINT');
      expect(await ended).toBe(1);
      const cutShort = JSON.parse(said);
      expect(cutShort.pending.length).toBeGreaterThan(0);
      expect(cutShort.pending.length + cutShort.exists.length).toBe(20);
      for (const site of many.sites) site.faults.latencyMs = undefined;
      const report = await there.json(['import', 'many.json']);
      expect(report.exists.length).toBeGreaterThan(0);
      expect(report.exists.length + report.imported.length).toBe(20);
      expect(new Set([...urls(report.exists), ...urls(report.imported)]).size).toBe(20);
      const again = await there.json(['import', 'many.json']);
      expect([again.exists.length, again.imported]).toEqual([20, []]);
    } finally {
      await app.close();
    }
  });
});
