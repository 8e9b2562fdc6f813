/**
 * Builds everything that is published, in `release/`: the npm package, bundled so that only the native database driver
 * is left to install, as a folder and a tarball; a bundle for desktop assistants (.mcpb) per system; a plugin for
 * Claude Code; the entry for the MCP registry.
 *
 *  npm run release                     the package, and the .mcpb of this system
 *  npm run release -- --all-systems    the .mcpb of every system
 *  npm run release -- --package-only   only the folder of the package, for the container image
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inputsOfPages, writeProgram } from './bundle.mjs';
import { manifestOf, registryEntryOf, registryName, SYSTEMS, systemHere } from './release-manifests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const flag = { type: 'boolean', default: false };
const { values: options } = parseArgs({ options: { 'all-systems': flag, 'package-only': flag } });

const MCPB = '@anthropic-ai/mcpb@2.1.2';
const facts = JSON.parse(readFileSync('package.json', 'utf8'));
const out = 'release';
const folder = join(out, 'package');
const say = (text) => process.stderr.write(`${text}\n`);

rmSync(out, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
// The build itself does not check types.
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noEmit']);
run(process.execPath, ['build.mjs']);
const inputs = new Set([
  ...Object.keys((await writeProgram(join(folder, 'dist', 'src'), true)).inputs),
  ...(await inputsOfPages()),
  // Copied from there into a file of ours.
  'node_modules/lucide/LICENSE',
]);
rmSync(join(folder, 'dist', 'src', 'cli.js'));
copyAssets();
writeManifests();
writeFileSync(join(folder, 'THIRD_PARTY_LICENSES'), licencesOf(inputs));
if (!options['package-only']) {
  const tarball = pack();
  const bundles = (options['all-systems'] ? Object.keys(SYSTEMS) : [systemHere()]).map(makeMcpb);
  writeFileSync(join(out, 'server.json'), `${JSON.stringify(registryEntryOf(facts, bundles), null, 2)}\n`);
  for (const file of [tarball, ...bundles.map(({ file }) => file)])
    say(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
}
if (!options['package-only'] && facts.repository === undefined)
  say(
    `package.json names no repository. ${join(out, 'server.json')} therefore has the placeholder ${registryName(facts)}: ` +
      'set "repository" before anything is published to the MCP registry.',
  );

/**
 * Copies everything the program reads at run time that is not a module, to the same path; and the documents for
 * readers.
 */
function copyAssets() {
  for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
    const from = join('dist', file);
    const [part] = file.split(sep);
    // The program is bundled anew, with all its packages.
    if (!statSync(from).isFile() || ['src', 'modules'].includes(part)) continue;
    mkdirSync(dirname(join(folder, from)), { recursive: true });
    cpSync(from, join(folder, from));
  }
  for (const path of [
    'php/exporter.php',
    'php/playground.mjs',
    'php/playground.php',
    'php/sitefleet-backup.php',
    'php/sitefleet-guard.php',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'SECURITY.md',
  ])
    cpSync(path, join(folder, path), { recursive: true });
}

function writeManifests() {
  const { name, version, description, keywords, license, type, engines, repository } = facts;
  const native = { libsql: facts.dependencies.libsql };
  const manifest = {
    ...{ name, version, mcpName: registryName(facts), description, keywords, license, type, engines },
    ...(repository === undefined ? {} : { repository }),
    bin: { sitefleet: 'dist/src/app/cli.js' },
    dependencies: native,
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Name, version and licence of every package whose code is in the bundles. */
function licencesOf(files) {
  const folders = new Set();
  for (const file of files) {
    const [, home] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.split(sep).join('/')) ?? [];
    if (home !== undefined) folders.add(home);
  }
  const texts = [...folders].sort().map((home) => {
    const { name, version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    const file = readdirSync(home).find((entry) => /^(licen[cs]e|copying)(\.|-|$)/i.test(entry));
    if (license === undefined && file === undefined) throw new Error(`${name} states no licence.`);
    const text =
      file === undefined ? 'The package holds no text of its licence.' : readFileSync(join(home, file), 'utf8').trim();
    return `${name} ${version} (${typeof license === 'string' ? license : 'see below'})\n\n${text}\n`;
  });
  return `Sitefleet contains code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function pack() {
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', '..'], { cwd: folder }));
  return join(out, filename);
}

/** The package with the native driver of one system, as one file. */
function makeMcpb(system) {
  const { os, cpu, libc } = SYSTEMS[system];
  const stage = join(out, `mcpb-${system}`);
  cpSync(folder, stage, { recursive: true });
  // An assistant starts it by stdio, which serves no pages.
  for (const pages of ['web', 'docs']) rmSync(join(stage, 'dist', pages), { recursive: true, force: true });
  const target = [`--os=${os}`, `--cpu=${cpu}`, ...(libc === undefined ? [] : [`--libc=${libc}`])];
  run('npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', ...target], {
    cwd: stage,
  });
  // npm installs the drivers for both C libraries of Linux; desktops have glibc.
  const drivers = join(stage, 'node_modules', '@libsql');
  for (const name of readdirSync(drivers)) if (name.endsWith('-musl')) rmSync(join(drivers, name), { recursive: true });
  const installed = readdirSync(drivers);
  if (installed.length !== 1 || !installed[0].startsWith(system))
    throw new Error(`For ${system} these drivers were installed: ${installed.join(', ') || 'none'}.`);
  writeFileSync(
    join(stage, 'manifest.json'),
    `${JSON.stringify(manifestOf(facts, system, 'dist/src/app/cli.js'), null, 2)}\n`,
  );
  const file = join(out, `${facts.name}-${facts.version}-${system}.mcpb`);
  run('npx', ['--yes', MCPB, 'validate', join(stage, 'manifest.json')]);
  run('npx', ['--yes', MCPB, 'pack', stage, file]);
  if (system === systemHere()) makePlugin(stage);
  else rmSync(stage, { recursive: true });
  return { system, file, sha256: createHash('sha256').update(readFileSync(file)).digest('hex') };
}

/**
 * The same folder as a plugin for Claude Code, in its own marketplace: `/plugin marketplace add
 * …/release/claude-plugin`.
 */
function makePlugin(stage) {
  const plugin = JSON.parse(readFileSync('.claude-plugin/plugin.json', 'utf8'));
  plugin.mcpServers.sitefleet.args[0] = plugin.mcpServers.sitefleet.args[0].replace('src/cli.js', 'src/app/cli.js');
  const { name, description, author } = plugin;
  const market = { name, owner: author, plugins: [{ name, source: './', description }] };
  rmSync(join(stage, 'manifest.json'));
  mkdirSync(join(stage, '.claude-plugin'));
  writeFileSync(join(stage, '.claude-plugin', 'plugin.json'), `${JSON.stringify(plugin, null, 2)}\n`);
  writeFileSync(join(stage, '.claude-plugin', 'marketplace.json'), `${JSON.stringify(market, null, 2)}\n`);
  renameSync(stage, join(out, 'claude-plugin'));
}

/** Runs a program until it exits; returns its stdout. */
function run(command, args, { cwd } = {}) {
  const windows = process.platform === 'win32' && command !== process.execPath;
  const done = spawnSync(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    encoding: 'utf8',
    shell: windows,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed:\n${done.stdout}${done.stderr}${done.error ?? ''}`);
  return done.stdout;
}
