/** Which address a process names that does not serve itself, such as a command of the shell: that of the one that serves. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { testApp } from '../support/harness.js';

const MINUTE = 60_000;

const settings = () => ({
  db: `file:${join(tempFolder('served-address'), 'fleet.db')}`,
  secret_key: 'a'.repeat(64),
  batch_threshold: 1,
});

it('is the one in use while a process serves, and the configured one afterwards', async () => {
  const config = settings();
  const serving = await testApp({ sites: 2, config, jobs: false });
  for (const index of [0, 1]) await serving.connect(index);
  // A command of the shell begins, queues a job, and ends.
  const statusUrl = async () => {
    const command = await testApp({ sites: 1, config, jobs: false });
    command.clock.move(serving.clock.now() - command.clock.now());
    const { status_url } = await command.call('sync-sites', {});
    await command.service.stop();
    return new URL(String(status_url)).origin;
  };
  expect(await statusUrl()).toBe('http://127.0.0.1:8787');

  serving.service.setBaseUrl('http://127.0.0.1:4321');
  await serving.service.start();
  expect(await statusUrl()).toBe('http://127.0.0.1:4321');
  await serving.service.stop();
  expect(await statusUrl()).toBe('http://127.0.0.1:8787');
});

it('is not that of a process that has died', async () => {
  const config = settings();
  const { service, clock } = await testApp({ sites: 1, config, jobs: false });
  await service.store.leases.acquire('served', 'http://127.0.0.1:4321', clock.now(), clock.now() + MINUTE);
  const origin = async () => (await testApp({ sites: 1, config, jobs: false })).ctx().base_url;
  expect(await origin()).toBe('http://127.0.0.1:4321');
  await service.store.leases.acquire('served', 'http://127.0.0.1:4321', clock.now(), clock.now() - 1);
  expect(await origin()).toBe('http://127.0.0.1:8787');
});
