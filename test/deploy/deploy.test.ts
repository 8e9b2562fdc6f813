/**
 * The deployment files: their settings exist, their paths are those of the release, and the tools that read them accept
 * them.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../src/runtime/config/config.js';
import { freePort, tempFolder } from '../support/cleanup.js';
import { needs } from '../support/needs.js';

const files = readdirSync('deploy', { recursive: true, encoding: 'utf8' })
  .map((name) => join('deploy', name))
  .filter((path) => /\.|file$/.test(path.split(/[\\/]/).at(-1) ?? ''));
const textOf = (path: string) => readFileSync(path, 'utf8');
const said = (command: string, args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return { code: status, text: stdout + stderr };
};

describe('deploy/', () => {
  test('names variables that there are', () => {
    const rows = describeConfig();
    const known = rows.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]));
    const named = files.flatMap((path) => [...textOf(path).matchAll(/SITEFLEET_[A-Z0-9_]+/g)].map(([name]) => name));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('hands the settings of .env to Sitefleet in Compose', () => {
    // Compose alone only fills in ${…} from it: a setting such as the mail server would not arrive.
    const inherits = (service: string) => service.includes('<<: *sitefleet');
    const handed = (text: string) => /^ +env_file: \[\.env\]$/m.test(text);
    const single = textOf('deploy/compose.yaml').split(/^ {2}(?=\w+:$)/m);
    expect(single.filter(handed).map((service) => service.split(':')[0])).toEqual(['sitefleet']);
    const [shared = '', ...services] = textOf('deploy/compose.cluster.yaml').split(
      /^(?=x-environment:)|^ {2}(?=\w+:$)/m,
    );
    expect(handed(shared)).toBe(true);
    expect(services.filter(inherits).map((service) => service.split(':')[0])).toEqual(['serve', 'worker']);
    expect(textOf('deploy/.env.example')).toContain('SITEFLEET_SMTP_URL');
  });

  test('starts the program where the release has it', () => {
    const programs = files.flatMap((path) =>
      [...textOf(path).matchAll(/[\w/]*\/dist\/[\w/.-]+/g)].map(([found]) => found),
    );
    expect(programs.length).toBeGreaterThan(3);
    for (const program of programs) expect(program).toMatch(/\/dist\/src\/app\/cli\.js$/);
    // The release builds it from this folder, with one file for each thread and process beside it.
    expect(textOf('scripts/release.mjs')).toContain("bin: { sitefleet: 'dist/src/app/cli.js' }");
  });

  const units = ['deploy/systemd/sitefleet.service', 'deploy/systemd/sitefleet-worker@.service'];
  test('units pass systemd-analyze', needs('systemd-analyze'), () => {
    // The unit as it is, except for the programs, which need not be installed here.
    const folder = tempFolder('units');
    for (const unit of units) {
      const file = join(folder, unit.split('/').at(-1) ?? '');
      writeFileSync(file, textOf(unit).replaceAll('/usr/bin/node', process.execPath));
      const verdict = said('systemd-analyze', ['verify', file]);
      expect(verdict.code, verdict.text).toBe(0);
      // It also warns about unknown members.
      expect(verdict.text).not.toContain('sitefleet');
    }
  });

  test('nginx takes its file', needs('nginx', 'openssl'), async () => {
    const folder = tempFolder('nginx');
    const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')];
    const made = said('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=fleet.example.com'],
      ...['-keyout', key, '-out', certificate],
    ]);
    expect(made.code, made.text).toBe(0);
    mkdirSync(join(folder, 'logs'));
    const site = join(folder, 'site.conf');
    // It takes the port for a moment, and 443 is not everyone's.
    const port = await freePort();
    const text = textOf('deploy/nginx.conf')
      .replaceAll('/etc/ssl/fleet.example.com', folder)
      .replace('listen 443 ssl', `listen ${port} ssl`);
    writeFileSync(site, text);
    const main = join(folder, 'nginx.conf');
    writeFileSync(main, `events {}\npid ${folder}/pid;\nhttp { access_log off; include ${site}; }\n`);
    expect(said('nginx', ['-t', '-e', join(folder, 'error.log'), '-c', main]).text).toContain('test is successful');
  });
});
