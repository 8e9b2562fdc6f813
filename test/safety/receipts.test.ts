/** Receipts of runs: what they say, that they are signed, and what the command makes of changed ones. */

import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { deleteExpired } from '../../src/domain/retention/delete-expired.js';
import { type RestApp, restApp } from '../rest/client.js';
import { tempFolder } from '../support/cleanup.js';
import { serveLocally } from '../support/local-server.js';
import { newKey } from '../support/logins.js';
import { connect, WAYS } from '../support/mcp-clients.js';
import { type Commands, commands } from '../support/processes/commands.js';
import { browser, HIDDEN, sound } from './browser.js';
import { ordinary, running } from './safety-app.js';

interface Receipt {
  site_id: number;
  document: string;
  signature: string;
  public_key: string;
  key_id: string;
}

let app: RestApp;
let programs: Commands;
let bad = '';
let receipts: Receipt[] = [];
const folder = tempFolder('receipts');

const get = (path: string) => app.rest(`GET ${path}`);

/** Offers a version of the first plugin of the site, makes the update and returns the run. */
async function updated(version: string): Promise<string> {
  const site = app.fleet.site(0);
  const [plugin] = ordinary(site);
  if (plugin === undefined) throw new Error('no plugin');
  plugin.active = true;
  plugin.premium = false;
  plugin.update = { version, requiresPhp: '', requiresWp: '' };
  await app.call('sync-sites', {});
  const answer = await running(app, app.call('safe-update-site', { site_id_or_domain: 1 }));
  return String(answer.run_id);
}

beforeAll(async () => {
  const hides = ({ site }: { site: ReturnType<RestApp['fleet']['site']> }) =>
    ordinary(site)[0]?.version === '66.0' ? { ...sound, layout: HIDDEN } : sound;
  const { pictures } = browser(() => app, hides);
  [app, programs] = await Promise.all([
    restApp({ sites: 1, pictures, config: { direct_call_ms: 86_400_000 }, fleet: { plugins: 3 } }),
    commands(),
  ]);
  const site = app.fleet.site(0);
  for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
  site.state.translations = [];
  site.state.wpUpdate = null;
  putGuard(site);
  await app.connect(0);
  bad = await updated('66.0');
  const { body } = await get(`/runs/${bad}/receipts`);
  receipts = body.data;
});

describe('the receipt of a site in a run', () => {
  it('says what was updated, found, undone, looked at and not looked at', async () => {
    const [plugin] = ordinary(app.fleet.site(0));
    expect(receipts).toMatchObject([{ site_id: 1 }]);
    const document = JSON.parse(receipts[0]?.document ?? '{}');
    expect(document).toMatchObject({
      format: 'sitefleet-receipt/1',
      run_id: bad,
      by: 'admin',
      site: { id: 1, url: app.fleet.site(0).url },
      items: [
        {
          type: 'plugin',
          slug: plugin?.slug,
          old_version: plugin?.version,
          new_version: '66.0',
          state: 'rolled_back',
          code: 'svc_update_rolled_back',
          findings: [expect.stringContaining('has hidden 94 % of the words')],
          rolled_back_by: 'sitefleet',
        },
      ],
      not_checked: expect.arrayContaining(['mail']),
    });
    expect(document.checked).toEqual([expect.stringContaining('look in a browser')]);
    expect(Number.isNaN(Date.parse(document.written_at))).toBe(false);
  });

  it('names pictures by what they hold: of the front page, and where something was found', async () => {
    const { body } = await get(`/runs/${bad}/pictures/1`);
    const named = JSON.parse(receipts[0]?.document ?? '{}').pictures;
    expect(body.data.map(({ file: _, ...rest }: { file: string }) => rest)).toEqual(named);
    expect(named).toHaveLength(12);
    expect(named.slice(0, 2)).toMatchObject([
      { page: '/', device: 'desktop', taken: 'before' },
      { page: '/', device: 'desktop', taken: 'after' },
    ]);
    for (const { file, sha256 } of body.data)
      expect(createHash('sha256').update(Buffer.from(file, 'base64')).digest('hex')).toBe(sha256);
  });

  it('is named in the report of its site, with how many updates were checked and how many taken back', async () => {
    const [day = ''] = new Date(app.clock.now()).toISOString().split('T');
    const range = `start_date=${day}&end_date=${day}`;
    const { body } = await get(`/pro-reports/1/plugins?${range}&format=normal`);
    expect(body.data.values).toMatchObject({
      updates_checked: 1,
      updates_taken_back: 1,
      receipts: [{ receipt: bad, date: day }],
    });
    // Of themes nothing was updated, so there is nothing to say of checks.
    const themes = await get(`/pro-reports/1/themes?${range}&format=normal`);
    expect(themes.body.data.values).toEqual({});
    const page = await get(`/pro-reports/1/report?${range}&segments=plugins`);
    expect(page.body).toContain(bad);
    expect(page.body).toMatch(/<dt>Updates checked<\/dt><dd>1<\/dd>/);
    expect(page.body).toMatch(/<dt>Rolled back<\/dt><dd>1<\/dd>/);
    const raw = await get(`/pro-reports/1/plugins?${range}`);
    expect(raw.body.data.other_tokens_data).toMatchObject({
      '[plugin.checked.count]': 1,
      '[plugin.taken-back.count]': 1,
      '[plugin.receipts]': expect.stringContaining(bad),
    });
    const text = await app.call('build-report', { site_id_or_domain: 1, start_date: day, end_date: day });
    expect(text.reports[0].text).toMatch(/Updates checked: 1; Rolled back: 1; Signed receipts: 1/);
    // A range that goes further back than runs are kept says so.
    const long = await get(`/pro-reports/1/plugins?start_date=2020-01-01&end_date=${day}&format=normal`);
    expect(long.body.data.values).toMatchObject({ updates_checked: 1 });
    expect(long.body.meta.notes).toContain('Checks of updates are known for 180 days.');
  });

  it('is signed by Ed25519 with one key for all, which is stored sealed', async () => {
    const good = await updated('67.0');
    const { body } = await get(`/runs/${good}/receipts`);
    for (const { document, signature, public_key, key_id } of [...receipts, ...body.data] as Receipt[]) {
      const der = Buffer.from(public_key, 'base64');
      const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
      expect(key.asymmetricKeyType).toBe('ed25519');
      expect(verify(null, Buffer.from(document), key, Buffer.from(signature, 'base64'))).toBe(true);
      expect(key_id).toBe(createHash('sha256').update(der).digest('hex').slice(0, 32));
    }
    expect(body.data[0].public_key).toBe(receipts[0]?.public_key);
    const [stored] = await app.db.all("SELECT value FROM setting WHERE key = 'receipt-key'");
    expect(String(stored?.value)).toMatch(/^v\d+\./);
    const { body: pictures } = await get(`/runs/${good}/pictures/1`);
    expect(pictures.data).toHaveLength(4);
  });

  it.each(WAYS)('is a resource for assistants, and so are its pictures: %s over %s', async (...way) => {
    const { url } = await serveLocally(await app.service.http());
    const { token } = await newKey(app.service.store.keys, { scope: 'read' });
    const core = await app.service.mcp();
    const client = await connect(way, { url: `${url}/mcp`, core, authorization: `Bearer ${token}` });
    const [file, ...others] = await client.contents(`svc://runs/${bad}/receipts`);
    expect([file?.mimeType, others]).toEqual(['application/json', []]);
    const text = Buffer.from(file?.blob ?? '', 'base64').toString();
    expect(JSON.parse(text)).toEqual({ total: 1, page: 1, per_page: 100, data: receipts });
    const pictures = await client.contents(`svc://runs/${bad}/pictures/1`);
    const { body } = await get(`/runs/${bad}/pictures/1`);
    expect(pictures.map(({ mimeType, blob, _meta }) => ({ mimeType, file: blob, ..._meta }))).toEqual(
      body.data.map((one: object) => ({ mimeType: 'image/webp', ...one })),
    );
    for (const uri of ['svc://runs/none/receipts', 'svc://runs/none/pictures/1', `svc://runs/${bad}/receipts/1`])
      await expect(client.contents(uri)).rejects.toThrow(/no resource with this URI/);
    await expect(client.contents(`svc://runs/${bad}/pictures/first`)).rejects.toThrow(/site/);
  });

  it('is refused for runs that do not exist', async () => {
    for (const path of ['/runs/none/receipts', '/runs/none/pictures/1'])
      expect(await get(path)).toMatchObject({ status: 404, body: { code: 'svc_run_not_found' } });
  });
});

/** Every value in JSON, each with a copy of the whole in which it is another one, is missing, or has something beside it. */
function alterations(value: unknown): unknown[] {
  if (Array.isArray(value))
    return [
      [...value, null],
      value.slice(1),
      ...value.flatMap((one, at) => alterations(one).map((other) => value.with(at, other))),
    ].filter((other) => JSON.stringify(other) !== JSON.stringify(value));
  if (value === null || typeof value !== 'object') return [altered(value), null].filter((other) => other !== value);
  const members = Object.entries(value);
  return [
    { ...value, added: 1 },
    ...members.flatMap(([name, one]) => [
      Object.fromEntries(members.filter(([other]) => other !== name)),
      ...alterations(one).map((other) => ({ ...value, [name]: other })),
    ]),
  ];
}

function altered(value: unknown): unknown {
  if (typeof value === 'string') return `${value} `;
  return typeof value === 'number' ? value + 1 : !value;
}

describe('sitefleet receipt verify', () => {
  const run = async (content: unknown, ...more: string[]) => {
    const file = join(folder, 'receipts.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return programs.run({}, ['receipt', 'verify', file, ...more]);
  };
  const one = () => receipts[0] as Receipt;

  it('knows a sound one, alone, in a list and in an answer', async () => {
    for (const content of [one(), receipts, (await get(`/runs/${bad}/receipts`)).body]) {
      const { code, out, err } = await run(content);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(
        new RegExp(`^valid: ${app.fleet.site(0).url}, run ${bad}, written .*, key ${one().key_id}\n$`),
      );
    }
    expect((await run(one(), '--key', one().key_id)).code).toBe(0);
    expect(JSON.parse((await run(one(), '--json')).out)).toMatchObject({ valid: true, receipts: [{ run_id: bad }] });
  });

  it('finds what was changed, or signed by someone else', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const document = one().document.replace('rolled_back', 'kept');
    const changed = { ...one(), document };
    const foreign = {
      ...changed,
      signature: sign(null, Buffer.from(document), privateKey).toString('base64'),
      public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    };
    expect(await run([one(), changed])).toMatchObject({ code: 1, out: expect.stringContaining('NOT VALID') });
    expect(await run(foreign, '--key', one().key_id)).toMatchObject({
      code: 1,
      out: expect.stringContaining('it is signed with the key'),
    });
    expect((await run({ ...one(), public_key: 'AAAA' })).out).toContain('cannot be read');
    expect((await run({ ...one(), document: 1 })).code).toBe(1);
    // What stands beside the signed document is read by people, too.
    for (const beside of [{ site_id: one().site_id + 1 }, { key_id: 'f'.repeat(32) }])
      expect(await run({ ...one(), ...beside })).toMatchObject({
        code: 1,
        out: expect.stringContaining(`its ${Object.keys(beside)[0]} differs from what is signed`),
      });
    const { site_id: _site, key_id: _key, ...least } = one();
    expect((await run(least)).code).toBe(0);
    expect(await run([one(), 'and one more'])).toMatchObject({ code: 1, out: '' });
    expect(await run('no json')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('cannot be read as JSON'),
    });
  });

  it('finds every alteration of every member, signed or beside it', async () => {
    const { document, signature, public_key } = one();
    const within = alterations(JSON.parse(document)).map((other) => ({ ...one(), document: JSON.stringify(other) }));
    // Other texts of the same bytes, too: what a reader sees is not what was written.
    const encodings = (text: string) => [`${text} `, `\n${text}`, `${text}=`, `!${text}`, text.replace(/=+$/, '')];
    const beside = [
      ...encodings(signature).map((other) => ({ ...one(), signature: other })),
      ...encodings(public_key).map((other) => ({ ...one(), public_key: other })),
      { ...one(), document: `${document} ` },
      { ...one(), signature: [signature] },
      { ...one(), public_key: [public_key] },
      ...[{ run_id: 'another' }, { site_url: 'https://another.example/' }, { items: [] }, { state: 'kept' }].map(
        (more) => ({ ...one(), ...more }),
      ),
    ].filter((other) => JSON.stringify(other) !== JSON.stringify(one()));
    const all = [...within, ...beside];
    expect(within.length).toBeGreaterThan(100);
    const { receipts: verdicts } = JSON.parse((await run(all, '--json')).out);
    const missed = all.flatMap((other, at) =>
      verdicts[at].valid === false ? [] : [JSON.stringify(other).slice(-200)],
    );
    expect(verdicts).toHaveLength(all.length);
    expect(missed).toEqual([]);
  });

  it('tells a sign that was replaced by half a pair, which UTF-8 cannot tell', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const text = (url: string) => `{"format":"sitefleet-receipt/1","site":{"id":1,"url":"${url}"}}`;
    const written = text('\ufffd');
    const receipt = {
      document: written,
      signature: sign(null, Buffer.from(written), privateKey).toString('base64'),
      public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    };
    expect((await run(receipt)).code).toBe(0);
    expect((await run({ ...receipt, document: text('\ud800') })).code).toBe(1);
  });
});

it('goes with its run, and so do its pictures', async () => {
  app.clock.move(181 * 86_400_000);
  await deleteExpired(app.ctx());
  expect(await app.db.all('SELECT 1 FROM run_receipt')).toEqual([]);
  expect(await app.db.all('SELECT 1 FROM run_picture')).toEqual([]);
});
