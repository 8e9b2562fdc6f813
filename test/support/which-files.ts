/** Which test files a run leaves out, and which run under another date. */

/** The long files, which take more than half of the time of all: kills, full disks, storms, fuzzing, weeks, large fleets, many processes, real sites and shells. */
const LONG = [
  'test/robustness/{clock,dripping-servers,durability,hostile-input,hostile-words,kill-windows,load}.test.ts',
  'test/robustness/{monitors-shared,processes,remote,site-text-stall,stall,volume}.test.ts',
  'test/guard/**',
  'test/conformance/**',
  'test/**/{kills,crash}.test.ts',
  'test/architecture/new-operation.test.ts',
  'test/assistant/tasks.test.ts',
  'test/action-log/long-log.test.ts',
  'test/approvals/every-site.test.ts',
  'test/backups/{archive,before-updates,bucket,check,drill-wordpress,full-disk,long-restore,places,playground}.test.ts',
  'test/backups/{real-wordpress,schedule,site-backups,thousand-sites}.test.ts',
  'test/child/{fleet,mixed-faults,pace}.test.ts',
  'test/cli/{cli,edges,restore-drill,served,shell,storage-server,work}.test.ts',
  'test/cluster/process-id.test.ts',
  'test/demo/story.test.ts',
  'test/engine/worker.test.ts',
  'test/import/{lists,mainwp,trial}.test.ts',
  'test/jobs/{jobs,maintenance}.test.ts',
  'test/mail/mail.test.ts',
  'test/mcp/{budget,clients,confirm,cut-lists,stdio,token-estimate,tool-choice}.test.ts',
  'test/monitoring/week.test.ts',
  'test/operations/{codes,held-back,runs,silent-site,updates-truth}.test.ts',
  'test/policies/of-settings.test.ts',
  'test/rest/{audits,hostile,live-events,openapi-traffic,pairs,reports,site-state,users}.test.ts',
  'test/rollouts/control.test.ts',
  'test/safety/{fleet,guarded-updates,looks,pictures}.test.ts',
  'test/store/{driver-fuzz,guards,long-reads}.test.ts',
  'test/undo/{rollout,ways-in}.test.ts',
  'test/vulnerabilities/vulnerabilities.test.ts',
];

/** Whether all run. A plain `npm test` leaves out the long ones and ends within minutes; with CI=true they run, too, and so does what is named. */
const ALL = process.env.CI === 'true' || process.env.npm_lifecycle_event !== 'test' || process.argv.length > 3;
export const LEFT_OUT: readonly string[] = ALL ? [] : LONG;

/**
 * The files that do not run under another date: they take long and cover other subjects (kills, pauses, load, storage, process starts,
 * traffic, tokens, looks at pages, the order of updates), and create and compare dates by one clock only. Everything else does, so that
 * new tests are included automatically.
 */
export const WITHOUT_DATES = [
  'test/{robustness,store,cli,conformance,bench,engine,guard,import,architecture,types,validation,assistant}/**/*.test.ts',
  // A browser hangs under libfaketime.
  'test/page/**/*.test.ts',
  'test/audits/{browser,pictures}.test.ts',
  'test/backups/{copies,doctor,drill-wordpress,playground,real-wordpress}.test.ts',
  'test/safety/{kills,guarded-updates,looks,pictures,fleet,outside}.test.ts',
  'test/rollouts/{crash,kills,halted}.test.ts',
  'test/undo/rollout.test.ts',
  'test/monitoring/{week,shared}.test.ts',
  'test/jobs/crash.test.ts',
  'test/cluster/process-id.test.ts',
  'test/child/{mixed-faults,fleet,pace}.test.ts',
  'test/mcp/{clients,stdio,budget,token-estimate,tool-choice}.test.ts',
  'test/http/{pipeline,forgery,limits}.test.ts',
  'test/demo/{lines,fleet}.test.ts',
  'test/rest/{hostile,openapi-traffic,audits,pairs,site-state,live-events}.test.ts',
  'test/operations/{silent-site,runs,updates-truth,held-back,codes,dry-runs,queue,update-filters,priority}.test.ts',
];
