/**
 * Verifies the output of `npm run release`: installs the tarball on every supported Node, starts it the way an
 * assistant and a server do, opens the .mcpb, and validates all manifests against their schemas. Talks to the package
 * registry and to loopback only.
 *
 *  npm run release:check                 Node 20, 22 and 24, from npm's packages of them (Linux, macOS, Windows)
 *  npm run release:check -- --nodes 20   one of them; --nodes here: the Node that runs this
 */

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SYSTEMS, systemHere } from './release-manifests.mjs';

/** The ratios are relative to npx of a package that does nothing, by processor time where known. */
const LIMITS = {
  packages: 12,
  megabytes: 45,
  mcpb_megabytes: 8,
  cold_s: 10,
  warm_s: 1,
  tarball_ratio: 3,
  published_ratio: 2,
};
const COLUMNS =
  'Node | Packages | MB | Install, empty cache | npx, tarball, empty cache | again | npx, tarball of nothing | npx, published version, again | Installed, first | again | Node alone';
const MCPB = '@anthropic-ai/mcpb@2.1.2';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { values: options } = parseArgs({ options: { nodes: { type: 'string', default: '20,22,24' } } });
const facts = JSON.parse(readFileSync('package.json', 'utf8'));
const released = JSON.parse(readFileSync('release/package/package.json', 'utf8'));
const tarball = resolve('release', `${facts.name}-${facts.version}.tgz`);
const mcpb = resolve('release', `${facts.name}-${facts.version}-${systemHere()}.mcpb`);
const npmCli = join(dirname(createRequire(import.meta.url).resolve.paths('npm')?.[0] ?? ''), 'npm');
const work = mkdtempSync(join(tmpdir(), 'sitefleet-release-'));
const say = (text) => process.stdout.write(`${text}\n`);

try {
  checkDescriptions();
  const rows = [];
  for (const name of options.nodes.split(',')) rows.push(await checkOnNode(name));
  await checkMcpb();
  await checkPlugins();
  say(
    '\nSeconds to the answer of `initialize`, and seconds of processor up to it, which other programs do not lengthen.',
  );
  say(
    'npx installs a tarball again at each call; a published version it finds installed. "Nothing" is a package that prints a word.',
  );
  say(`| ${COLUMNS} |\n|${'---|'.repeat(COLUMNS.split('|').length)}`);
  for (const row of rows) say(`| ${row.join(' | ')} |`);
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 3 });
}

/** Package, registry entry and plugin agree with each other and with the contents of the folder. */
function checkDescriptions() {
  assert.deepEqual(Object.keys(released.dependencies), ['libsql'], 'only native code is left to install');
  assert.equal(released.version, facts.version);
  const files = readdirSync('release/package', { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  );
  for (const file of [
    released.bin.sitefleet,
    'dist/docs/index.html',
    ...['brief', 'job', 'update'].map((view) => `dist/apps/${view}.html`),
    'php/exporter.php',
    'php/playground.mjs',
    'php/playground.php',
    'php/sitefleet-backup.php',
    'php/sitefleet-guard.php',
  ])
    assert.ok(files.includes(file), `${file} is in the package`);
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'THIRD_PARTY_LICENSES'])
    assert.ok(files.includes(file), `${file} is in the package`);
  if (existsSync('web/main.tsx'))
    assert.ok(
      files.some((name) => name.startsWith('dist/web/')),
      'the page is in the package',
    );
  const licences = readFileSync('release/package/THIRD_PARTY_LICENSES', 'utf8');
  // By name, independently of how the release collects them. esbuild makes the bundles and is not in them.
  for (const name of Object.keys(facts.dependencies).filter(
    (each) => each !== 'esbuild' && !(each in released.dependencies),
  ))
    assert.ok(licences.includes(`\n${name} ${facts.dependencies[name]} (`), `the licence of ${name} is in the package`);
  for (const file of files.filter((name) => /\.(js|cjs|json)$/.test(name)))
    assert.ok(
      !readFileSync(join('release/package', file), 'utf8').includes(process.cwd()),
      `${file} names no path of this machine`,
    );

  const entry = JSON.parse(readFileSync('release/server.json', 'utf8'));
  // Requirements of the registry for an entry, see its server.json format of 2025-12-11.
  assert.match(entry.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  assert.ok(entry.description.length <= 100 && entry.title.length <= 100, 'texts of at most 100 characters');
  for (const part of entry.packages) {
    assert.equal(part.transport.type, 'stdio');
    if (part.registryType === 'npm') assert.equal(part.version, facts.version);
    else assert.match(part.fileSha256, /^[a-f0-9]{64}$/);
  }
  assert.equal(entry.name, released.mcpName);
  assert.equal(entry.version, released.version);
  assert.deepEqual(
    entry.packages.map(({ identifier }) => identifier).filter((name) => !name.startsWith('https:')),
    [facts.name],
  );

  const checkout = JSON.parse(readFileSync('.claude-plugin/plugin.json', 'utf8'));
  const plugin = JSON.parse(readFileSync('release/claude-plugin/.claude-plugin/plugin.json', 'utf8'));
  const market = JSON.parse(readFileSync('release/claude-plugin/.claude-plugin/marketplace.json', 'utf8'));
  for (const { name, version } of [checkout, plugin]) assert.deepEqual([name, version], [facts.name, facts.version]);
  assert.deepEqual(
    market.plugins.map(({ name, source }) => [name, source]),
    [[facts.name, './']],
  );
  say('descriptions       agree with each other and with their schemas');
}

/** Installs and starts the package on one version of Node. */
async function checkOnNode(name) {
  const node = name === 'here' ? process.execPath : installedNode(name);
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const home = join(work, `home-${name}`);
  mkdirSync(home);
  const env = environment(node, home);

  const app = join(work, `app-${name}`);
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"private":true}');
  const began = performance.now();
  const install = npm(node, ['install', '--no-audit', '--no-fund', tarball], { cwd: app, env });
  const installed = seconds(began);
  assert.doesNotMatch(install, /EBADENGINE|deprecated/i, 'nothing complains about the version of Node');
  const lock = JSON.parse(readFileSync(join(app, 'node_modules', '.package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).length;
  const megabytes = sizeOf(join(app, 'node_modules')) / 1e6;
  assert.ok(packages <= LIMITS.packages, `${packages} packages`);
  assert.ok(megabytes <= LIMITS.megabytes, `${megabytes} MB`);
  const program = join(app, 'node_modules', facts.name, released.bin.sitefleet);

  const first = await greeting(node, [program, 'stdio'], env);
  const again = await greeting(node, [program, 'stdio'], env);
  const nodeAlone = await untilOutput(node, ['-e', 'console.log("up");process.stdin.resume()'], env);
  await serves(node, program, env);

  // A fresh cache and home: the driver is downloaded from the registry again. A busy machine or network gets more
  // tries.
  const npx = [npmScript('npx-cli.js'), '--yes', `--package=${tarball}`, facts.name, 'stdio'];
  const firsts = [];
  let strange;
  let npxEnv;
  do {
    strange = mkdtempSync(join(work, `npx-${name}-`));
    npxEnv = environment(node, strange);
    firsts.push(await greeting(node, npx, npxEnv, strange));
  } while (best(firsts).wall >= LIMITS.cold_s && firsts.length < 3);
  const cold = best(firsts);
  assert.ok(cold.wall < LIMITS.cold_s, `npx with an empty cache: ${shown(cold)}`);
  // npx itself takes half a second, more on a busy machine: the best of several tries, beside a package that does
  // nothing.
  const nothing = npxOfNothing(node, npxEnv, strange);
  const [warm, bare] = [[], []];
  do {
    warm.push(await greeting(node, npx, npxEnv, strange));
    bare.push(await untilOutput(node, nothing, npxEnv, strange));
  } while (best(warm).wall >= LIMITS.warm_s && warm.length < 6);
  const [tarballWarm, alone] = [best(warm), best(bare)];
  const published = await npxPublished(node, npxEnv, strange);
  for (const [what, took, ratio] of [
    ['a tarball', tarballWarm, LIMITS.tarball_ratio],
    ['a published version', published, LIMITS.published_ratio],
  ]) {
    const [ours, bare] = took.cpu === null ? [took.wall, alone.wall] : [took.cpu, alone.cpu];
    assert.ok(
      took.wall < LIMITS.warm_s || ours < ratio * bare,
      `npx of ${what}: ${shown(took)}; of a tarball that does nothing: ${shown(alone)}`,
    );
  }
  say(`Node ${version.padEnd(13)} installs, answers, serves a fleet, backs up and restores`);
  return [
    version,
    packages,
    megabytes.toFixed(0),
    `${round(installed)} s`,
    ...[cold, tarballWarm, alone, published, first, again, nodeAlone].map(shown),
  ];
}

/** Arguments to npx for a package that prints a word and waits; it has run once already. */
function npxOfNothing(node, env, folder) {
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const text = '#!/usr/bin/env node\nconsole.log("up");\nprocess.stdin.resume();\n';
  writeFileSync(join(empty, 'empty.js'), text, { mode: 0o755 });
  writeFileSync(join(empty, 'package.json'), '{"name":"empty","version":"1.0.0","bin":"empty.js"}');
  npm(node, ['pack'], { cwd: empty, env });
  const args = [npmScript('npx-cli.js'), '--yes', `--package=${join(empty, 'empty-1.0.0.tgz')}`, 'empty'];
  spawnSync(node, args, { env, cwd: folder, stdio: 'ignore' });
  return args;
}

/**
 * The second start by npx of the published version: from a registry on loopback that forwards all else to the real one.
 */
async function npxPublished(node, env, folder) {
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const { origin, pathname } = new URL(npm(node, ['config', 'get', 'registry'], { env, out: true }).trim());
  const server = createServer((request, response) => {
    const here = `http://127.0.0.1:${server.address().port}`;
    if (request.url === '/own.tgz') return response.end(bytes);
    if (request.url !== `/${facts.name}`)
      return response.writeHead(302, { location: `${origin}${pathname.replace(/\/$/, '')}${request.url}` }).end();
    const dist = { tarball: `${here}/own.tgz`, integrity };
    const versions = { [facts.version]: { ...released, dist } };
    const about = { name: facts.name, 'dist-tags': { latest: facts.version }, versions };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(about));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const own = { ...env, npm_config_registry: `http://127.0.0.1:${server.address().port}/` };
    const npx = [npmScript('npx-cli.js'), '--yes', `${facts.name}@${facts.version}`, 'stdio'];
    await greeting(node, npx, own, folder);
    const tries = [];
    do tries.push(await greeting(node, npx, own, folder));
    while (best(tries).wall >= LIMITS.warm_s && tries.length < 4);
    return best(tries);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Times of a command up to its first output; then it is stopped. */
async function untilOutput(command, args, env, cwd) {
  const began = performance.now();
  const child = spawn(command, args, {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const times = timesOf(child, began);
  child.stdin.end();
  await ended;
  return times;
}

/**
 * Seconds since `began`, and processor seconds of the process and its descendants; null where the system does not
 * report them.
 */
function timesOf(child, began) {
  const wall = seconds(began);
  try {
    return { wall, cpu: processorSeconds(child.pid) };
  } catch {
    return { wall, cpu: null };
  }
}

function processorSeconds(pid) {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => {
    const [ns] = readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ');
    const below = readFileSync(join(tasks, task, 'children'), 'utf8')
      .split(' ')
      .filter(Boolean);
    return sum + Number(ns) / 1e9 + below.reduce((part, each) => part + processorSeconds(each), 0);
  }, 0);
}

/** The shortest wall time of several tries, with the shortest processor time of all of them. */
function best(tries) {
  const cpu = tries.map((each) => each.cpu).filter((each) => each !== null);
  return { wall: Math.min(...tries.map((each) => each.wall)), cpu: cpu.length === 0 ? null : Math.min(...cpu) };
}

function shown({ wall, cpu }) {
  return `${round(wall)} s${cpu === null ? '' : `, ${round(cpu)} s`}`;
}

function round(value) {
  return value.toFixed(value < 10 ? 2 : 1);
}

/**
 * Runs a simulated fleet, synced by the engine thread and changed over MCP and REST; then maintenance from the shell.
 */
async function serves(node, program, env) {
  const demo = await started(node, [program, 'demo', '--sites', '3', '--port', '0', '--json'], env);
  try {
    const { url, mcp, v2, api_key: key } = demo.line;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sites = await (await fetch(`${v2}/sites`, { headers })).json();
    assert.equal(sites.total, 3, 'the fleet is connected');
    const pages = existsSync('web/main.tsx') ? ['/', '/docs'] : ['/docs'];
    for (const path of ['/readyz', '/v2/openapi.json', '/metrics', ...pages]) {
      const answer = await fetch(`${url}${path}`, { headers: { accept: 'text/html,*/*' } });
      assert.equal(answer.status, 200, path);
      if (!pages.includes(path)) continue;
      // The page's scripts and styles are present as well.
      for (const [, part] of (await answer.text()).matchAll(/(?:src|href)="([^"#:]+)"/g)) {
        const loaded = await fetch(new URL(part, answer.url), { headers: { 'accept-encoding': 'br' } });
        assert.equal(loaded.status, 200, `${path} loads ${part}`);
      }
    }
    const call = (name, args) =>
      fetch(mcp, {
        method: 'POST',
        headers: { ...headers, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      });
    assert.ok((await call('svc-list-sites-v1', {})).status < 500, 'MCP answers');
    const abilities = `${demo.line.abilities}/svc`;
    const login = {
      authorization: `Basic ${Buffer.from(`${demo.line.user}:${demo.line.password}`).toString('base64')}`,
    };
    const guard = await fetch(`${abilities}/install-site-guard-v1/run`, {
      method: 'POST',
      headers: { ...login, 'content-type': 'application/json' },
      body: JSON.stringify({ input: { site_id_or_domain: sites.data[0].id } }),
    });
    const text = await guard.text();
    assert.doesNotMatch(text, /missing from this installation/, 'the file of the guard is found');
  } finally {
    await demo.stop();
  }
  const shell = (...args) => {
    const done = spawnSync(node, [program, ...args], { env, encoding: 'utf8' });
    assert.equal(done.status, 0, `${args[0]}: ${done.stderr}`);
    return done.stdout;
  };
  shell('migrate');
  const copy = join(env.HOME, 'copy.db');
  shell('backup', copy);
  shell('restore', copy, '--json');
  assert.equal(JSON.parse(shell('check', '--json')).ok, true);
}

/** Opens the bundle the way an assistant's program does: unpacked, and started with the values a user leaves empty. */
async function checkMcpb() {
  const megabytes = statSync(mcpb).size / 1e6;
  assert.ok(megabytes < LIMITS.mcpb_megabytes, `the .mcpb has ${megabytes} MB`);
  const folder = join(work, 'mcpb');
  npm(process.execPath, ['exec', '--yes', '--', MCPB, 'unpack', mcpb, folder], {});
  npm(process.execPath, ['exec', '--yes', '--', MCPB, 'validate', join(folder, 'manifest.json')], {});
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  assert.deepEqual(manifest.compatibility.platforms, [SYSTEMS[systemHere()].os]);
  const put = (text) =>
    text.replace(/\$\{(?:__dirname|user_config\.(\w+))\}/g, (_all, key) =>
      key === undefined ? folder : String(manifest.user_config[key].default),
    );
  const { command, args, env } = manifest.server.mcp_config;
  assert.equal(command, 'node');
  const home = join(work, 'mcpb-home');
  mkdirSync(home);
  const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, put(value)]));
  const took = await greeting(process.execPath, args.map(put), { ...environment(process.execPath, home), ...filled });
  say(`.mcpb              ${megabytes.toFixed(1)} MB, validated, answers after ${took.wall.toFixed(2)} s`);
}

/** Starts the plugins as Claude Code does: the one in the release, and the one in a checkout. */
async function checkPlugins() {
  for (const folder of [resolve('release/claude-plugin'), process.cwd()]) {
    const { mcpServers } = JSON.parse(readFileSync(join(folder, '.claude-plugin', 'plugin.json'), 'utf8'));
    const { command, args } = mcpServers.sitefleet;
    assert.equal(command, 'node');
    const home = mkdtempSync(join(work, 'plugin-'));
    const put = (text) => text.replace(`\${CLAUDE_PLUGIN_ROOT}`, folder);
    await greeting(process.execPath, args.map(put), environment(process.execPath, home));
  }
  say('Claude Code plugin answers, in the release and in a checkout');
}

/** Times of a command up to its answer to `initialize`; then it lists its tools and ends when its input closes. */
async function greeting(command, args, env, cwd) {
  const began = performance.now();
  const child = spawn(command, args, { env, ...(cwd === undefined ? {} : { cwd }), stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { value, done } = await lines.next();
    assert.ok(!done, `${args.join(' ')} ended without an answer: ${errors}`);
    return JSON.parse(value).result;
  };
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const client = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'release-check', version: '1' },
  };
  const { serverInfo } = await ask(1, 'initialize', client);
  const took = timesOf(child, began);
  assert.equal(serverInfo.version, facts.version);
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  assert.ok((await ask(2, 'tools/list', {})).tools.length > 50, 'all tools are there');
  // This call opens the database with the native driver.
  const listed = await ask(3, 'tools/call', { name: 'svc-list-sites-v1', arguments: {} });
  assert.ok(listed.isError !== true, JSON.stringify(listed));
  child.stdin.end();
  await ended;
  clearTimeout(timer);
  assert.doesNotMatch(errors, /EBADENGINE|deprecated/i);
  return took;
}

/** Starts a command that prints one line of JSON when it is ready. */
async function started(command, args, env) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  assert.ok(!first.done, `${args.join(' ')} ended: ${errors}`);
  return {
    line: JSON.parse(first.value),
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** Installs one version of Node from npm's package of it for this system; returns the path of the program. */
function installedNode(major) {
  const prefix = join(work, `node-${major}`);
  mkdirSync(prefix);
  const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  npm(
    process.execPath,
    ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--no-save', `node-${system}@${major}`],
    {},
  );
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(prefix, 'node_modules', `node-${system}`, 'bin', file);
}

/** The environment without our own variables and npm's of this script, and with that Node first in the path. */
function environment(node, home) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SITEFLEET_|npm_(?!config_registry$)|NODE_OPTIONS$|XDG_)/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    HOME: home,
    USERPROFILE: home,
    LOCALAPPDATA: home,
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_update_notifier: 'false',
  };
}

function npmScript(name) {
  const places = [process.env.npm_execpath && dirname(process.env.npm_execpath), join(npmCli, 'bin')];
  const beside = dirname(process.execPath);
  places.push(join(beside, '..', 'lib', 'node_modules', 'npm', 'bin'), join(beside, 'node_modules', 'npm', 'bin'));
  const found = places
    .filter(Boolean)
    .map((place) => join(place, name))
    .find(existsSync);
  if (found === undefined) throw new Error(`${name} of npm was not found; start this by "npm run release:check".`);
  return found;
}

/** Runs npm under a Node; returns all its output, with `out` only stdout. */
function npm(node, args, { cwd, env = process.env, out = false }) {
  const done = spawnSync(node, [npmScript('npm-cli.js'), ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, `npm ${args.join(' ')}: ${done.stderr}`);
  return out ? done.stdout : done.stdout + done.stderr;
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, { size }) => sum + size, 0);
}

function seconds(began) {
  return (performance.now() - began) / 1000;
}
