import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DemoSite, type Fleet, startFleet } from '../../src/demo/fleet.js';
import { createChildSites, type PacedChildSites } from '../../src/outbound/child/create.js';
import type { ChildConnection, Registered } from '../../src/outbound/child/port.js';
import { closing } from '../support/cleanup.js';
import { START } from '../support/dates.js';
import { handClock } from '../support/harness.js';

const clock = handClock();
let fleet: Fleet;
let sites: PacedChildSites;
const request = { abandonedAfterDays: 730, changesAfter: 0 };

beforeAll(async () => {
  fleet = closing(await startFleet({ sites: 12, seed: 5, plugins: 12, now: () => START }));
  sites = createChildSites({
    dashboardUrl: 'https://fleet.example/wp-admin/',
    concurrency: 20,
    perHost: 20,
    perHostDelayMs: 0,
    minDelayMs: 0,
    allowPrivate: true,
    clock,
  });
  closing(sites);
});

beforeEach(() => {
  for (const site of fleet.sites)
    for (const name of Object.keys(site.faults)) Reflect.deleteProperty(site.faults, name);
});

const address = (site: DemoSite) => ({ url: site.url, http_user: null, http_pass: null, ssl_verify: true });

async function connect(site: DemoSite): Promise<ChildConnection & { registered: Registered }> {
  const { private_key, public_key } = await sites.generateKey();
  const registered = await sites.register(address(site), {
    user: site.admin,
    public_key,
    unique_id: site.uniqueId,
    password: site.password,
  });
  return { ...address(site), site_id: site.index + 1, user: site.admin, private_key, registered };
}

describe('the life of a connection', () => {
  it('registers every site of a fleet, odd passwords, junk and unique IDs included, and syncs it', async () => {
    const connections = await Promise.all(fleet.sites.map(connect));
    const snapshots = await Promise.all(connections.map((one) => sites.stats(one, request)));
    for (const [index, snapshot] of snapshots.entries()) {
      const { state } = fleet.site(index);
      const real = state.plugins.map((one) => [one.slug, one.version, one.active]).sort();
      expect((snapshot.plugins ?? []).map((one) => [one.slug, one.version, one.active]).sort()).toEqual(real);
      const offered = state.plugins.filter((one) => one.update !== null && !one.mustUse).map((one) => one.slug);
      expect((snapshot.plugin_updates ?? []).map((one) => one.slug).sort()).toEqual(offered.sort());
      expect(snapshot).toMatchObject({ child_version: expect.any(String), site_url: fleet.site(index).siteUrl });
      expect(connections[index]?.registered).toMatchObject({
        regverify: expect.stringMatching(/^[0-9a-f]{40}-[0-9a-f]{40}$/),
        unique_id: fleet.site(index).uniqueId,
      });
    }
  });

  it('tells what is wrong with a registration', async () => {
    const fresh = closing(await startFleet({ sites: 6, seed: 9, now: () => START }));
    const site = fresh.site(0);
    const { public_key } = await sites.generateKey();
    const base = { user: site.admin, public_key, unique_id: '' };
    expect(await sites.connectionState(address(site), site.admin)).toMatchObject({ state: 'unconnected' });
    await expect(sites.register(address(site), base)).rejects.toMatchObject({ childCode: 'REG_ERROR7' });
    await expect(sites.register(address(site), { ...base, password: 'wrong' })).rejects.toMatchObject({
      childCode: 'REG_ERROR7',
    });
    await expect(sites.register(address(site), { ...base, regverify: 'never-given-out' })).rejects.toMatchObject({
      childCode: 'reconnect_failed',
    });
    const guarded = fresh.site(5);
    expect(guarded.uniqueId).not.toBe('');
    const there = { ...base, user: guarded.admin, password: guarded.password };
    await expect(sites.register(address(guarded), there)).rejects.toMatchObject({ childCode: 'REG_ERROR3' });
    await expect(sites.register(address(guarded), { ...there, unique_id: 'x' })).rejects.toMatchObject({
      childCode: 'REG_ERROR4',
    });
  });

  it('is refused after a disconnect, and comes back without a password', async () => {
    const site = fleet.site(1);
    const connection = await connect(site);
    await sites.disconnect(connection);
    expect(site.state.connection).toBeNull();
    await expect(sites.stats(connection, request)).rejects.toMatchObject({ kind: 'refused' });
    await expect(sites.disconnect(connection)).rejects.toMatchObject({ kind: 'refused' });
    expect(await sites.connectionState(address(site), site.admin)).toMatchObject({ state: 'unconnected' });
    const { private_key, public_key } = await sites.generateKey();
    const regverify = connection.registered.regverify ?? '';
    await sites.register(address(site), { user: site.admin, public_key, unique_id: site.uniqueId, regverify });
    expect(await sites.stats({ ...connection, private_key }, request)).toMatchObject({
      wp_version: expect.any(String),
    });
    expect(await sites.connectionState(address(site), site.admin)).toEqual({ state: 'connected' });
  });

  it('ends with the plugin switched off', async () => {
    const connection = await connect(fleet.site(11));
    await sites.deactivate(connection);
    await expect(sites.stats(connection, request)).rejects.toMatchObject({ kind: 'plugin_missing' });
  });
});

describe('actions and updates', () => {
  it('switches, updates and deletes what is really there', async () => {
    const site = fleet.site(2);
    const connection = await connect(site);
    const target = site.state.plugins.find(
      (one) => one.update !== null && !one.mustUse && !one.premium && !one.breaksOnActivation,
    );
    if (target === undefined) throw new Error('the seed gives this site no update');
    const offered = target.update?.version;
    const updated = await sites.upgradeExtensions(connection, 'plugin', [target.slug, 'ghost/ghost.php']);
    expect(updated.verdicts[0]).toMatchObject({ slug: target.slug, claimed: true, version: offered });
    // Claimed, but without versions: the child's false success.
    expect(updated.verdicts[1]).toMatchObject({ slug: 'ghost/ghost.php', version: '', old_version: '' });
    expect(target.version).toBe(offered);

    const off = await sites.pluginAction(connection, 'deactivate', [target.slug, 'ghost/ghost.php']);
    expect(off.verdicts.map((one) => one.claimed)).toEqual([true, false]);
    expect(off.snapshot?.plugins?.find((one) => one.slug === target.slug)?.active).toBe(false);
    const gone = await sites.pluginAction(connection, 'delete', [target.slug]);
    expect(gone.verdicts[0]?.claimed).toBe(true);
    expect(site.state.plugins.some((one) => one.slug === target.slug)).toBe(false);
    const active = gone.snapshot?.themes?.find((one) => one.active);
    const kept = await sites.themeAction(connection, 'delete', [active?.slug ?? '']);
    expect(kept.verdicts[0]).toMatchObject({ claimed: false, message: expect.stringContaining('active theme') });
  });

  it('reads failed updates, core, translations and abandoned ones', async () => {
    const site = fleet.site(3);
    const connection = await connect(site);
    const before = await sites.stats(connection, request);
    const slug = before.plugin_updates?.[0]?.slug ?? '';
    site.faults.failUpdates = true;
    expect((await sites.upgradeExtensions(connection, 'plugin', [slug])).verdicts[0]).toMatchObject({
      claimed: false,
      message: expect.stringMatching(/./),
    });
    site.faults.failUpdates = false;
    const core = await sites.upgradeCore(connection);
    expect(core.claimed).toBe(true);
    expect(await sites.stats(connection, request)).toMatchObject({ core_update: null });
    const translations = (before.translation_updates ?? []).map((one) => one.slug);
    const done = await sites.upgradeTranslations(connection, translations);
    expect(done.verdicts.every((one) => one.claimed)).toBe(true);
    expect(await sites.checkAbandoned(connection, 'plugin')).toHaveProperty('abandoned_plugins');
    expect(await sites.securityChecks(connection)).toHaveProperty('db_reporting');
  });

  it('a site that dies in the middle of an update may have run it', async () => {
    const site = fleet.site(4);
    const connection = await connect(site);
    const slug = (await sites.stats(connection, request)).plugin_updates?.[0]?.slug ?? '';
    const real = () => site.state.plugins.find((one) => one.slug === slug)?.version;
    const old = real();
    site.faults.dieMidUpdate = true;
    await expect(sites.upgradeExtensions(connection, 'plugin', [slug])).rejects.toMatchObject({
      kind: 'unreachable',
      mayHaveRun: true,
    });
    expect(real()).not.toBe(old);
  });
});

describe('faults', () => {
  it.each([
    [{ offline: true }, 'unreachable'],
    [{ refused: true }, 'refused'],
    [{ http500: true }, 'unframed'],
    [{ firewall: true }, 'unframed'],
    [{ maintenance: true }, 'maintenance'],
    [{ redirect: 'https://other.example/' }, 'redirected'],
    [{ httpAuth: { user: 'u', pass: 'p' } }, 'http_auth'],
    [{ emptyFrame: true }, 'bad_answer'],
    [{ malformedJson: true }, 'bad_answer'],
    [{ pluginMissing: true }, 'plugin_missing'],
  ] as const)('%j is %s', async (faults, kind) => {
    const site = fleet.site(6);
    const connection = await connect(site);
    Object.assign(site.faults, faults);
    await expect(sites.stats(connection, request)).rejects.toMatchObject({ name: 'ChildFailure', kind });
  });

  it.each([{ hang: true }, { slowBody: true }])('%j is a timeout', async (faults) => {
    const site = fleet.site(6);
    const connection = await connect(site);
    Object.assign(site.faults, faults);
    const before = site.calls.length;
    const call = expect(sites.stats(connection, request, { timeoutMs: 300 })).rejects.toMatchObject({
      name: 'ChildFailure',
      kind: 'timed_out',
    });
    await expect.poll(() => site.calls.length).toBeGreaterThan(before);
    clock.move(300);
    await call;
  });

  it('gets past a firewall that guards only wp-admin, and HTTP Basic with its login', async () => {
    const site = fleet.site(7);
    const connection = await connect(site);
    site.faults.firewall = 'wp-admin';
    expect(await sites.stats(connection, request)).toHaveProperty('wp_version');
    // What refuses even an empty call shows that WordPress never saw this one, so it is safe to send it to the other address.
    expect(await sites.upgradeCore(connection)).toMatchObject({ claimed: true });
    site.faults.firewall = false;
    site.faults.httpAuth = { user: 'u', pass: 'p' };
    expect(await sites.stats({ ...connection, http_user: 'u', http_pass: 'p' }, request)).toHaveProperty('wp_version');
  });

  it('visits the front page as it is', async () => {
    const site = fleet.site(8);
    expect(await sites.visit(address(site))).toMatchObject({ http_status: 200, failure: null, ip: '127.0.0.1' });
    site.faults.maintenance = true;
    expect(await sites.visit(address(site))).toMatchObject({
      http_status: 503,
      body: expect.stringContaining('maintenance'),
    });
    site.faults.offline = true;
    expect(await sites.visit(address(site))).toMatchObject({ http_status: 0, failure: { kind: 'unreachable' } });
  });
});
