/** Texts of the views inside assistants, in English. */

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

export const say = {
  waiting: 'Waiting for the answer…',
  cancelled: 'The call was cancelled.',
  unexpected: 'The answer has an unexpected shape; the text of the conversation contains it.',
  noCalls: 'This assistant does not forward calls: ask it in words.',
  refresh: 'Refresh',
  show: 'Show all',
  hide: 'Hide',
  sure: 'Yes, do it',
  cancel: 'Cancel',
  more: (shown: number, total: number) => `${shown} of ${total} are shown.`,
  brief: {
    title: 'The fleet now',
    fine: 'Nothing needs attention.',
    sites: (total: number, connected: number) => `${connected} of ${total} sites connected`,
    suspended: (count: number) => `${count} suspended`,
    disconnected: (count: number) => `${count} disconnected`,
    offers: 'Available updates',
    done: 'Done in this period',
    times: (count: number, sites: number) =>
      sites === 0 ? `${count}` : `${count} on ${sites} ${sites === 1 ? 'site' : 'sites'}`,
    unknown: 'Unknown',
  },
  job: {
    title: (type: string) => `Job: ${type}`,
    queued: 'Queued',
    processing: 'Running',
    completed: 'Done',
    failed: 'Ended early',
    succeeded: 'done',
    failures: 'failed',
    site: (id: number) => (id === 0 ? 'Whole job' : `Site ${id}`),
    items: 'What was done',
  },
  run: {
    title: 'Updates',
    site: 'Site',
    running: 'The updates are under way.',
    planned: (updates: number, sites: number) =>
      `${updates} ${updates === 1 ? 'update' : 'updates'} on ${sites} ${sites === 1 ? 'site' : 'sites'} would be applied.`,
    sure: (sites: number) =>
      `Updates ${sites === 1 ? 'one site' : `${sites} sites`} now. On guarded sites an update that breaks the site is rolled back.`,
    left: 'Left out:',
    takeIn: (slug: string) => `Take ${slug} in again`,
    kept: (updates: number, sites: number) =>
      updates === 0
        ? 'No update was kept'
        : `${updates} ${updates === 1 ? 'update' : 'updates'} on ${sites} ${sites === 1 ? 'site' : 'sites'}`,
    rescued: (count: number, site: string, time: string) =>
      count === 1
        ? `; one would have broken ${site} and was taken back in ${time}`
        : `; ${count} would have broken a site and were taken back, each within ${time}`,
    restored: (time: string) => `restored in ${time}`,
    state: {
      queued: 'waiting',
      updating: 'updating',
      checking: 'checking',
      kept: 'updated',
      rolled_back: 'rolled back',
      failed: 'not updated',
      skipped: 'skipped',
      unknown: 'unknown',
    },
  },
  evidence: {
    title: 'Evidence',
    receipts: (sites: number, key: string) =>
      `${sites === 1 ? 'A signed receipt says' : `Signed receipts of ${sites} sites say`} what was done and looked at (key ${key}).`,
    notChecked: 'Not checked:',
    show: (site: string) => `Before and after: ${site}`,
    page: (path: string, device: string) => `${path === '/' ? 'Front page' : path} on a ${device}`,
    pictures: {
      left: 'before the update',
      right: 'after it',
      before: (what: string) => `${what}, before the update`,
      after: (what: string) => `${what}, after the update`,
      handle: (what: string) => `Before and after: ${what}`,
    },
  },
  rollout: {
    plan: 'The plan',
    title: 'Rollout',
    updates: (count: number) => plural(count, 'update', 'updates'),
    sites: (count: number) => plural(count, 'site', 'sites'),
    onSites: (count: number) => `on ${plural(count, 'site', 'sites')}`,
    on: (updates: number, sites: number) =>
      `${plural(updates, 'update', 'updates')} on ${plural(sites, 'site', 'sites')}`,
    planned: (what: string, waves: number) => `${what}, ${waves === 1 ? 'in one wave' : `in ${waves} waves`}.`,
    wave: (wave: number, sites: number) => `Wave ${wave}: ${plural(sites, 'site', 'sites')}`,
    protection: {
      guard: 'with a guard: what breaks is rolled back',
      reinstall: 'without a guard: the old version can only be reinstalled',
      none: 'that cannot be rolled back',
    },
    items: 'What is updated',
    moreItems: (count: number) => `and ${count} more`,
    risks: 'Risks',
    risk: {
      major: 'Major version',
      site_down: 'The site is down',
      no_guard: 'No guard on the site',
      no_roll_back: 'Cannot be rolled back',
      quarantined_elsewhere: 'Broke another site',
      quarantined_before: 'Quarantined before, and released',
      guidance: 'Guidance is about it',
      not_in_first_wave: 'Not tried in the first wave',
    },
    leftOut: 'Left out',
    digest: 'Exactly this plan is started. Its digest:',
    start: 'Start the rollout',
    sure: (what: string, sites: number) =>
      `Starts ${what}: first on ${plural(sites, 'site', 'sites')}, then wave by wave. It halts on its own when updates do harm.`,
    state: { running: 'In progress', paused: 'Paused', completed: 'Completed', halted: 'Halted', aborted: 'Aborted' },
    waits: (wave: number) => `Wave ${wave} waits for approval`,
    waveState: {
      waiting: 'Not begun',
      running: 'At work',
      soaking: 'Watched',
      done: 'Done',
      stopped: 'Stopped',
      not_begun: 'Not begun',
    },
    approve: (wave: number) => `Approve wave ${wave}`,
    approveSure: 'The next wave begins now.',
    pause: 'Pause',
    resume: 'Resume',
    abort: 'Abort',
    abortSure: 'Sites at work are finished, and no other begins. It cannot be resumed.',
    untouched: 'never touched',
  },
  update: {
    plan: 'What would be updated',
    done: 'Updated safely',
    nothing: 'No updates available.',
    guard: 'guard',
    reinstall: 'archive',
    none: 'not protected',
    go: (count: number) => (count === 1 ? 'Update this one' : `Update these ${count}`),
    goSure: 'Updates the site now. An update that breaks it is rolled back.',
    updated: 'updated',
    rolledBack: 'rolled back',
    quarantined: 'quarantined',
    failed: 'not updated',
    suspect: 'needs a look',
    rollBack: 'Restore the old version',
    rollBackSure: (version: string) => `Restores ${version} on the site now.`,
    result: (version: string, well: boolean) =>
      `${version} is restored; the site ${well ? 'works' : 'does not work properly'}.`,
  },
};
