/**
 * Monitors shared out among processes. A claim needs no column: it moves `next_check_at` a little into the future (see
 * monitor-claims.ts). What differs from machine to machine has rows of its own. Times are milliseconds since the epoch.
 */
export const shares = `
-- Whether a machine's own network is up. The network columns of monitor_engine stay for older processes that still run.
CREATE TABLE monitor_network (
  -- Name of the machine; '' = what was known before there were names.
  host TEXT PRIMARY KEY,
  down_since INTEGER,
  -- When the references were asked last, and when one last answered.
  asked_at INTEGER,
  ok_at INTEGER
) WITHOUT ROWID;
INSERT INTO monitor_network (host, asked_at, ok_at)
  SELECT '', reference_asked_at, reference_ok_at FROM monitor_engine WHERE reference_ok_at IS NOT NULL;

-- Last run of an entry of the timetable that every process takes a share of, by process.
CREATE TABLE schedule_part (
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  last_started INTEGER NOT NULL,
  last_finished INTEGER,
  last_outcome TEXT NOT NULL,
  PRIMARY KEY (name, owner)
) WITHOUT ROWID;
`;
