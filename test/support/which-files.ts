/** Which test files a run leaves out, and which run under another date. */

const DAY_MS = 86_400_000;
/** Seven, as the dates under which CI runs are six: each of these files meets each date. */
const TURNS = 7;

/**
 * The long files, which take two thirds of the time of all: kills, full disks, storms, fuzzing, weeks, large fleets, many processes,
 * real sites and shells. With CI=true another seventh of them runs each day. By their CPU time, the longest first, for equal shares.
 */
export const IN_TURNS: readonly string[] = [
  'backups/playground',
  'guard/gallery',
  'backups/drill-wordpress',
  'backups/real-wordpress',
  'safety/looks',
  'backups/bucket',
  'safety/guarded-updates',
  'cli/cli',
  'robustness/stall',
  'robustness/processes',
  'store/guards',
  'import/lists',
  'store/long-reads',
  'robustness/remote',
  'policies/of-settings',
  'backups/site-backups',
  'guard/outside',
  'mail/mail',
  'guard/shops',
  'backups/kills',
  'backups/schedule',
  'robustness/monitors-shared',
  'backups/before-updates',
  'assistant/tasks',
  'backups/archive',
  'robustness/load',
  'monitoring/week',
  'rest/reports',
  'rest/openapi-traffic',
  'cli/storage-server',
  'cli/served',
  'architecture/new-operation',
  'rest/hostile',
  'guard/pictures',
  'cli/shell',
  'safety/fleet',
  'robustness/hostile-input',
  'robustness/volume',
  'guard/guard',
  'mcp/cut-lists',
  'robustness/clock',
  'jobs/crash',
  'import/mainwp',
  'undo/rollout',
  'guard/places',
  'safety/kills',
  'robustness/dripping-servers',
  'rest/site-state',
  'rollouts/control',
  'guard/sandbox',
  'mcp/stdio',
  'mcp/clients',
  'rest/audits',
  'robustness/durability',
  'mcp/tool-choice',
  'demo/story',
  'undo/ways-in',
  'mcp/budget',
  'robustness/hostile-words',
  'safety/pictures',
  'child/fleet',
  'operations/silent-site',
  'backups/check',
  'rollouts/crash',
  'mcp/confirm',
  'vulnerabilities/vulnerabilities',
  'guard/watch',
  'operations/updates-truth',
  'operations/runs',
  'cli/edges',
  'robustness/site-text-stall',
  'import/trial',
  'child/mixed-faults',
  'guard/ledger',
  'operations/held-back',
  'approvals/every-site',
  'jobs/maintenance',
  'cluster/process-id',
  'action-log/long-log',
  'engine/worker',
  'child/pace',
  'rest/users',
  'robustness/kill-windows',
  'backups/places',
  'mcp/token-estimate',
  'jobs/jobs',
  'backups/full-disk',
  'cli/work',
  'backups/long-restore',
  'guard/visits',
  'backups/thousand-sites',
  'cli/restore-drill',
];

/** What takes too long for a plain `npm test`, and runs each time with CI=true. */
const WITH_CI = [
  'action-log/cost',
  'auth/sessions',
  'backups/drill',
  'conformance/conformance',
  'demo/lines',
  'guard/protocol',
  'http/pipelining',
  'mail/alert-recipients',
  'mcp/approval-ahead',
  'mcp/sessions',
  'mcp/site-names',
  'monitoring/shared',
  'operations/codes',
  'operations/diagnose-site',
  'operations/dry-runs',
  'operations/priority',
  'operations/queue',
  'operations/tag-sites',
  'operations/update-filters',
  'operations/update-previews',
  'policies/joined',
  'rest/live-events',
  'rest/pairs',
  'rest/updates',
  'robustness/secrets',
  'rollouts/halted',
  'safety/losses',
  'safety/outside',
  'safety/receipts',
  'safety/runs',
  'safety/watch',
  'store/driver-fuzz',
  'undo/handed-over',
];

/** The seventh of a day, from 0. */
export function turnOf(now: number): number {
  return Math.floor(now / DAY_MS) % TURNS;
}

/** Dealt there and back through the list, so that each seventh has as much of its long end as of its short one. */
export function isInTurn(index: number, turn: number): boolean {
  const [row, place] = [Math.floor(index / TURNS), index % TURNS];
  return (row % 2 === 0 ? place : TURNS - 1 - place) === turn;
}

/** @param ci whether this is CI, which leaves out less; SITEFLEET_TEST_TURN, from 0 to 6, has it take the seventh of another day */
function leftOut(ci: boolean): string[] {
  if (!ci) return [...IN_TURNS, ...WITH_CI];
  const turn = Number(process.env.SITEFLEET_TEST_TURN ?? turnOf(Date.now()));
  return IN_TURNS.filter((_name, index) => !isInTurn(index, turn));
}

/** `npm run test:all` runs all files, and so does Vitest itself; what is named runs. */
const ALL = process.env.npm_lifecycle_event !== 'test' || process.argv.length > 3;
export const LEFT_OUT: readonly string[] = ALL
  ? []
  : leftOut(process.env.CI === 'true').map((name) => `test/${name}.test.ts`);
/** All that a run may leave out. */
export const LONG: readonly string[] = [...IN_TURNS, ...WITH_CI];

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
