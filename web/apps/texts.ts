/** Texts of the views inside assistants, in English. */

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
