/** Policies in the shell: set as over REST, by the owner of the machine, and logged as theirs. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { list, preview, remove, set, show, turn } from '../../src/cli/policies.js';
import { tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/config.js';
import { testApp } from '../support/harness.js';
import { printed as printedBy } from '../support/printed.js';

const config = testConfig({ db: `file:${join(tempFolder('policies'), 'fleet.db')}` });
const printed = (command: () => Promise<void>) => printedBy('sitefleet policies', command);
const json = { json: true } as const;

it('are previewed, created, changed, switched and deleted', async () => {
  const night = JSON.stringify({ name: 'Night', types: ['plugins'], schedule: { at: '03:00' } });
  const draft = await printed(() => preview(config, night, json));
  expect(draft).toMatchObject({
    summary: expect.stringMatching(/^Updates of plugins, on all sites\./),
    now: { updates: 0 },
  });
  const { policy_id: id } = await printed(() => set(config, night, json));
  expect(await printed(() => preview(config, String(id), json))).toMatchObject({
    ...{ policy_id: id, ...draft },
    // By the clock of each command.
    past: { ...draft.past, since: expect.stringMatching(/Z$/) },
  });
  await printed(() => set(config, '{"minimum_age_days": 4}', { ...json, id }));
  await printed(() => turn(config, id, false, json));
  expect(await printed(() => show(config, id))).toMatchObject({
    ...{ name: 'Night', types: ['plugins'], minimum_age_days: 4, enabled: false, schedule: { at: '03:00' } },
    changed_by: 'local',
  });
  // A slip must not make it a wider one.
  await expect(set(config, '{"slug": ["shop"]}', { ...json, id })).rejects.toThrow('slug is not a field');
  await expect(set(config, '{"tag_ids": [7]}', { ...json, id })).rejects.toThrow('no tag has the id 7');
  await expect(set(config, '{', json)).rejects.toThrow(/^The input /);
  await printed(() => remove(config, id, json));
  expect(await printed(() => list(config, json))).toEqual([]);
  const app = await testApp({ sites: 1, realClock: true, config });
  const { actions } = await app.call('list-actions', { contexts: ['policy'] });
  expect(actions.map(({ action, actor, via }: Record<string, string>) => [action, actor, via])).toEqual(
    ['deleted', 'changed', 'changed', 'created'].map((action) => [action, 'local', 'cli']),
  );
});
