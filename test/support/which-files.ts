/** Which test files a run leaves out, and which run under another date. */

const DAY_MS = 86_400_000;
/** No common divisor with the six dates under which CI runs, so that each file meets each, nor with the week: a CI may rest at weekends. */
export const TURNS = 11;

/**
 * The longest files, the longest first: kills, full disks, storms, fuzzing, weeks, large fleets, many processes, real sites, shells, and the
 * page. They start first (`longest-first.ts`), and all but those of EVERY_TIME take turns.
 */
export const LONGEST: readonly string[] = [
  'guard/gallery',
  'store/guards',
  'backups/real-wordpress',
  'guard/outside',
  'guard/shops',
  'guard/pictures',
  'guard/guard',
  'robustness/stall',
  'page/page',
  'page/plan',
  'guard/places',
  'safety/looks',
  'cli/cli',
  'page/dashboard',
  'import/lists',
  'types/types',
  'robustness/remote',
  'monitoring/week',
  'policies/of-settings',
  'robustness/clock',
  'backups/drill-wordpress',
  'backups/playground',
  'backups/real-database',
  'cli/shell',
  'robustness/monitors-shared',
  'robustness/volume',
  'safety/guarded-updates',
  'guard/watch',
  'mcp/stdio',
  'audits/pictures',
  'page/rollouts',
  'page/apps',
  'rest/hostile',
  'page/reference',
  'jobs/crash',
  'rest/openapi-traffic',
  'audits/browser',
  'page/owner',
  'mcp/clients',
  'robustness/processes',
  'architecture/new-operation',
  'store/long-reads',
  'page/search',
  'guard/sandbox',
  'safety/kills',
  'assistant/tasks',
  'robustness/load',
  'rest/reports',
  'backups/kills',
  'backups/bucket',
  'cli/served',
  'rest/audits',
  'page/fleet',
  'backups/before-updates',
  'cli/storage-server',
  'import/mainwp',
  'page/policies',
  'backups/schedule',
  'backups/site-backups',
  'mcp/cut-lists',
  'demo/story',
  'safety/fleet',
  'page/dialogs',
  'page/care',
  'robustness/hostile-input',
  'robustness/durability',
  'rest/site-state',
  'cluster/process-id',
  'guard/ledger',
  'rollouts/control',
  'cli/edges',
  'safety/pictures',
  'rollouts/crash',
  'operations/silent-site',
  'robustness/site-text-stall',
  'action-log/long-log',
  'backups/check',
  'mcp/budget',
  'backups/archive',
  'mcp/tool-choice',
  'mail/mail',
  'robustness/hostile-words',
  'cli/readme',
  'child/fleet',
  'operations/updates-truth',
  'engine/worker',
  'rest/users',
  'page/backups',
  'mcp/confirm',
  'jobs/maintenance',
  'undo/ways-in',
  'robustness/kill-windows',
  'operations/runs',
  'undo/rollout',
  'child/mixed-faults',
  'cli/work',
  'http/gate',
  'import/trial',
  'guard/visits',
  'operations/held-back',
  'backups/full-disk',
  'child/pace',
  'vulnerabilities/vulnerabilities',
  'mcp/token-estimate',
  'robustness/dripping-servers',
  'approvals/every-site',
  'backups/places',
  'jobs/jobs',
  'backups/long-restore',
  'backups/thousand-sites',
  'cli/restore-drill',
];

/** Of the longest, what each run needs: what people look at, the types of the package, and the README's own commands. */
const EVERY_TIME = /^(page|audits)\/|^(types\/types|cli\/readme|http\/gate)$/;
/** Of these, CI takes another part each day. */
export const IN_TURNS = LONGEST.filter((name) => !EVERY_TIME.test(name));

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

/** The turn of a day, from 0. */
export function turnOf(now: number): number {
  return Math.floor(now / DAY_MS) % TURNS;
}

/** Dealt there and back through the list, so that each turn has as much of its long end as of its short one. */
export function isInTurn(index: number, turn: number): boolean {
  const [row, place] = [Math.floor(index / TURNS), index % TURNS];
  return (row % 2 === 0 ? place : TURNS - 1 - place) === turn;
}

/** SITEFLEET_TEST_TURN takes the turn of another day. */
function chosenTurn(told: string | undefined): number {
  if (told === undefined) return turnOf(Date.now());
  if (/^\d+$/.test(told) && Number(told) < TURNS) return Number(told);
  throw new RangeError(`SITEFLEET_TEST_TURN: one of 0 to ${TURNS - 1}, not "${told}"`);
}

/** @param ci whether this is CI, which leaves out less */
export function leftOut(ci: boolean, told = process.env.SITEFLEET_TEST_TURN): string[] {
  if (!ci) return [...IN_TURNS, ...WITH_CI];
  const turn = chosenTurn(told);
  return IN_TURNS.filter((_name, index) => !isInTurn(index, turn));
}

/** `npm run test:all` runs all files, and so does Vitest itself; what is named runs: `vitest run NAME`. */
const ALL = process.env.npm_lifecycle_event !== 'test' || process.argv.slice(3).some((word) => !word.startsWith('-'));
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
  'test/backups/{copies,doctor,drill-wordpress,odd-places,playground,real-database,real-wordpress}.test.ts',
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
