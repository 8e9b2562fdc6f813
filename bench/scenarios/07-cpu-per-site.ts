/** CPU per synced site against its unavoidable parts, and the savings of resuming TLS sessions. */

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Snapshot } from '../../schemas/snapshot.js';
import { encodeForm } from '../../src/child/form.js';
import { statsParams } from '../../src/child/parameters.js';
import { snapshotOf } from '../../src/child/snapshot.js';
import type { LoadedSite } from '../../src/domain/sites/load.js';
import { compare, type Slice } from '../lib/ab.js';
import { certificateChain } from '../lib/chain.js';
import { type BenchEngine, startEngine, startRig } from '../lib/fleet.js';
import { cpuMs, startHelper } from '../lib/process.js';
import { type Measure, measureOf, type Scenario } from '../lib/scenario.js';

const AT_ONCE = 50;
/** Longer than any connection is kept alive, so that each slice opens its own. */
const FORGET_MS = 2_300;

export const scenario: Scenario = {
  number: 7,
  name: 'cpu-per-site',
  title:
    'CPU per synced site against signing, request, decoding and storing alone; TLS resumption against full handshakes',
  async run({ quick, dir }) {
    return [await plain(dir, quick), ...(await tls(dir, quick))];
  },
};

async function plain(dir: string, quick: boolean): Promise<Measure> {
  const sites = quick ? 250 : 500;
  const rig = await startRig({ dir, name: 'cpu', groups: Array<number>(sites).fill(1) });
  const engine = await startEngine(rig, { concurrency: AT_ONCE });
  await engine.sync(await engine.targets());
  const targets = await engine.targets();
  const { parts, bytes } = await unavoidable(engine, targets);
  const whole = async (): Promise<number> => {
    const now = await engine.targets();
    await pause(FORGET_MS);
    const before = cpuMs();
    await engine.sync(now);
    return (cpuMs() - before) / sites;
  };
  const compared = await compare(whole, parts, { rounds: quick ? 3 : 7, warmups: 2 });
  await engine.close();
  await rig.close();
  const answer = `answers of ${Math.round(bytes / 1024)} KB`;
  return measureOf('CPU per synced site against its parts', { atMost: 1.4 }, compared, 'ms', answer);
}

interface Call {
  url: string;
  key: KeyObject;
  body: string;
  target: LoadedSite;
  snapshot: Snapshot;
}

/** Signing, one bare request, decoding and storing, for each site. */
async function unavoidable(
  engine: BenchEngine,
  targets: readonly LoadedSite[],
): Promise<{ parts: Slice; bytes: number }> {
  let agent = new Agent();
  const post = async ({ url, body }: Pick<Call, 'url' | 'body'>): Promise<Buffer> => {
    const answer = await request(new URL('wp-admin/admin-ajax.php', url), {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    return Buffer.from(await answer.body.arrayBuffer());
  };
  const calls: Call[] = [];
  let bytes = 0;
  for (const target of targets) {
    if (target.connection === null) throw new Error(`Site ${target.site.id} has no connection.`);
    const { url, user, private_key } = target.connection;
    const key = createPrivateKey(private_key);
    const params = statsParams(
      { abandonedAfterDays: 730, changesAfter: target.site.changes_after },
      { server: SERVER, siteId: target.site.id },
    );
    const call = { user, function: 'stats', nonce: NONCE, mainwpver: '6.1.2' };
    const body = encodeForm({ ...call, ...params, sign_algo: 7, mainwpsignature: signed(key) });
    const answer = await post({ url, body });
    bytes = Math.max(bytes, answer.length);
    const snapshot = snapshotOf(decoded(answer), true);
    if (snapshot === null) throw new Error(`Site ${target.site.id} did not answer.`);
    calls.push({ url, key, body, target, snapshot });
  }
  await agent.destroy();
  const one = async (call: Call): Promise<void> => {
    signed(call.key);
    decoded(await post(call));
    await engine.store.inventory.save(call.target.site, call.snapshot, Date.now(), true);
  };
  const parts = async (): Promise<number> => {
    agent = new Agent({ pipelining: 1 });
    const before = cpuMs();
    const queue = calls.values();
    const worker = async () => {
      for (const call of queue) await one(call);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const cost = (cpuMs() - before) / calls.length;
    await agent.destroy();
    return cost;
  };
  return { parts, bytes };
}

const SERVER = 'https://bench.invalid/wp-admin/';
const NONCE = '0123456789abcdef0123456789abcdef';

function signed(key: KeyObject): string {
  return sign('sha256', Buffer.from(`stats${NONCE}`), key).toString('base64');
}

function decoded(body: Buffer): unknown {
  const open = body.indexOf('<mainwp>') + 8;
  const text = body.toString('latin1', open, body.indexOf('</mainwp>', open));
  return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
}

async function tls(dir: string, quick: boolean): Promise<Measure[]> {
  const { root, ...certificate } = certificateChain();
  const file = join(dir, 'fleet.pem');
  writeFileSync(file, root);
  const groups = Array<number>(quick ? 100 : 250).fill(1);
  const rig = await startRig({ dir, name: 'tls', groups, ports: true, tls: certificate });
  const spec = { db: rig.db, ids: rig.ids };
  const helper = await startHelper<void>(new URL('../lib/tls-process.js', import.meta.url), spec, {
    NODE_EXTRA_CA_CERTS: file,
  });
  const ask = (command: string) => () => helper.ask<number>(command);
  const rounds = quick ? 3 : 7;
  const shaken = await compare(ask('resumed'), ask('full'), { rounds, calibrate: false });
  const resumedCalls = async () => {
    await pause(FORGET_MS);
    return helper.ask<number>('resumedCalls');
  };
  const called = await compare(resumedCalls, ask('fullCalls'), { rounds: 3, calibrate: false });
  await helper.close();
  await rig.close();
  return [
    measureOf('CPU per TLS connection, resumed against full', { atMost: 0.5 }, shaken, 'ms', 'verified chain of three'),
    measureOf('CPU per https call, resumed against full', null, called, 'ms', 'with signing, request and decoding'),
  ];
}
