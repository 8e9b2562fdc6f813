/** What `sitefleet doctor` finds out about backups of sites: their place, their key, and what trial restores need. */

import { openBackupStorage, placeText } from '../app/backup-repository.js';
import { copiesParts } from '../app/engine-connections.js';
import { lookForMeans, type Means } from '../outbound/copies/create.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { RepositoryError } from '../runtime/repository-error.js';
import type { BackupStorage, PlaceLook } from '../store/backups/repository/types.js';
import type { Store } from '../store/store.js';
import type { Finding } from './finding.js';
import { messageOf } from './output.js';

type Overview = Awaited<ReturnType<Store['siteBackups']['overview']>>;

const HOUR_MS = 3_600_000;
const GB = 1024 ** 3;
/** Less is worth a word; with 512 MB no more is written. */
const LITTLE_BYTES = 5 * GB;
/** No schedule is rarer than monthly. */
const LATE_HOURS = 32 * 24;

/** The repository of the sites' backups, and trial restores. */
export async function siteBackupsOf(config: Config, store: Store, signal: AbortSignal): Promise<Finding[]> {
  const overview = await store.siteBackups.overview();
  return [await placeOf(config, store, overview), await drillsOf(config, overview, signal)];
}

async function placeOf(config: Config, store: Store, overview: Overview): Promise<Finding> {
  const what = 'Site backups';
  const storage = openBackupStorage(config, store, systemClock, 'reader');
  try {
    return { what, ...(await judged(storage, overview)) };
  } catch (error) {
    const advice =
      error instanceof RepositoryError && error.kind === 'wrong_key'
        ? ' Take its key from the recovery sheet: "sitefleet backups use-key FILE".'
        : '';
    return { what, status: 'fail', detail: `${storage.place}: ${messageOf(error)}${advice}` };
  } finally {
    await storage.close();
  }
}

async function judged(storage: BackupStorage, { total, last_at }: Overview): Promise<Omit<Finding, 'what'>> {
  const [home, look] = [await storage.home(), await storage.look()];
  if (home !== null && home.id !== look.found)
    return {
      status: 'fail',
      detail: `${storage.place} has ${look.found === null ? 'no repository' : `repository ${look.found}`}, but backups are in ${home.id}, ${placeText(home)}: set SITEFLEET_SITE_BACKUP_DIR to a folder that all machines share, or SITEFLEET_SITE_BACKUP_S3, or "sitefleet backups use-place"`,
    };
  const [room, isLittle] = [roomText(look), look.free_bytes !== null && look.free_bytes < LITTLE_BYTES];
  if (total === 0 || last_at === null)
    return { status: isLittle ? 'warn' : 'ok', detail: `none yet; ${storage.place} can be written${room}` };
  if (!look.has_key)
    return {
      status: 'fail',
      detail: `the key of ${storage.place} is missing: "sitefleet backups use-key FILE", with that of the recovery sheet`,
    };
  const hours = Math.floor((systemClock.now() - last_at) / HOUR_MS);
  if (hours < 0)
    return {
      status: 'warn',
      detail: `the newest in ${storage.place} ended ${-hours} h in the future: this machine's clock is behind, or was ahead then`,
    };
  const detail = `${total} in ${storage.place}, which can be read and written${room}; the newest ended ${hours} h ago; their key is here and on the sheet of "sitefleet backups recovery-sheet"`;
  return { status: isLittle || hours > LATE_HOURS ? 'warn' : 'ok', detail };
}

function roomText({ free_bytes }: PlaceLook): string {
  return free_bytes === null ? '' : `, ${(free_bytes / GB).toFixed(1)} GB free`;
}

async function drillsOf(config: Config, { total, drill }: Overview, signal: AbortSignal): Promise<Finding> {
  const { drills, drill_container } = config;
  const means = await lookForMeans(copiesParts(config), signal);
  const problem = problemOf(means);
  const last =
    drill === null
      ? 'none has ended yet'
      : `the last one ended ${Math.floor((systemClock.now() - drill.at) / HOUR_MS)} h ago: ${drill.result}`;
  const detail = [
    drills ? last : 'switched off, so no backup is proven: SITEFLEET_DRILLS=1 runs the code of sites on this machine',
    problem ?? `PHP ${means.php} and MariaDB are ${drill_container === null ? 'here' : 'in the container'}`,
    ...(means.playground === null ? [] : [insteadOf(means.playground, means.php)]),
    ...(means.network === null ? [] : [NETWORKS[means.network]]),
  ].join('; ');
  const isWell = drills
    ? (problem === null || (means.playground !== null && means.php !== null)) && drill?.result !== 'failed'
    : total === 0;
  return { what: 'Drills', status: isWell ? 'ok' : 'warn', detail };
}

const NETWORKS = {
  none: 'copies have no network',
  open: 'this machine allows no user namespaces, so copies reach its network (network: open)',
};

function insteadOf(playground: string, php: string | null): string {
  return php === null
    ? `WordPress Playground (${playground}) does not run here either`
    : `until then drills run in WordPress Playground (${playground}, PHP ${php}), which proves less`;
}

/** What is missing for trial restores; null = nothing is known to be. */
function problemOf({ lacks, reason }: Means): string | null {
  if (lacks.length === 0) return reason;
  const packages = new Set(lacks.flatMap(({ debian }) => debian.split(' ')));
  const programs = lacks.map(({ program }) => program).join(', ');
  return `this machine lacks ${programs}: apt-get install ${[...packages].join(' ')}${reason === null ? '' : `; ${reason}`}`;
}
