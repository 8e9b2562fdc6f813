/** Tables: jobs, leases, the timetable. */
export const work = `
-- A job is one call on many sites: a row for the job, one per site, one per item done there.
CREATE TABLE job (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  -- What each site's work is called with, JSON.
  params TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'processing', 'completed', 'failed')),
  total INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  delay_ms INTEGER NOT NULL,
  timeout_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  next_run_at INTEGER NOT NULL,
  timed_out INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until INTEGER,
  -- Grows with each lease: a process that was paused and comes back cannot write with an old one.
  fence INTEGER NOT NULL DEFAULT 0,
  -- 1 = continues a call that ran out of time; the same call asked again finds it.
  begun INTEGER NOT NULL DEFAULT 0,
  -- Who asked for it, JSON.
  origin TEXT NOT NULL DEFAULT '',
  -- The run of updates that it does or finishes; '' = it is no job of updates.
  run_id TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX job_due ON job (next_run_at) WHERE completed_at IS NULL;
CREATE INDEX job_ended ON job (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE job_site (
  job_id TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- 0 when the entry was refused before queueing and named no site.
  site_id INTEGER NOT NULL,
  -- 0 waiting, 1 started, 2 succeeded, 3 failed, 4 refused before queueing.
  state INTEGER NOT NULL DEFAULT 0,
  code TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL DEFAULT '',
  finished_at INTEGER,
  -- JSON: what the call that this job continues was doing there when its time was up. NULL = it had begun nothing.
  begun TEXT,
  -- While it is started: how many of its items had their turn, and how many there are. 0 = not known.
  items_done INTEGER NOT NULL DEFAULT 0,
  items_planned INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job_id, position)
) WITHOUT ROWID;
CREATE INDEX job_site_waiting ON job_site (job_id, state, position);
CREATE INDEX job_site_by_site ON job_site (site_id, state);

CREATE TABLE job_item (
  job_id TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  -- Of the site within the job.
  position INTEGER NOT NULL,
  number INTEGER NOT NULL,
  site_id INTEGER NOT NULL,
  -- 1 = done, 0 = failed, 2 = not known yet.
  done INTEGER NOT NULL,
  -- JSON object; its members depend on the kind of job.
  facts TEXT NOT NULL,
  PRIMARY KEY (job_id, position, number)
) WITHOUT ROWID;
CREATE INDEX job_item_open ON job_item (site_id) WHERE done = 2;

-- Work on all sites that an operator started by hand. Counters are derived from the rows of its sites.
CREATE TABLE tool_job (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('destroy', 'renew', 'disconnect')),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  total INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  -- The process that works on it, and until when no other may take it.
  owner TEXT,
  lease_until INTEGER,
  -- Who asked for it, JSON.
  origin TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
-- One of a kind at a time.
CREATE UNIQUE INDEX tool_job_open ON tool_job (kind) WHERE completed_at IS NULL;
CREATE INDEX tool_job_ended ON tool_job (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE tool_job_site (
  job_id TEXT NOT NULL REFERENCES tool_job (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  site_id INTEGER NOT NULL,
  -- 0 waiting, 1 succeeded, 2 failed.
  state INTEGER NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (job_id, position)
) WITHOUT ROWID;
CREATE INDEX tool_job_site_state ON tool_job_site (job_id, state, position);

-- Exclusive rights: 'schedule', 'site:12'.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  fence INTEGER NOT NULL
) WITHOUT ROWID;

-- The last run of each entry of the timetable, and its next one.
CREATE TABLE schedule_run (
  name TEXT PRIMARY KEY,
  last_started INTEGER,
  last_finished INTEGER,
  last_outcome TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
-- The same for entries that every process takes a share of, by process.
CREATE TABLE schedule_part (
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  last_started INTEGER NOT NULL,
  last_finished INTEGER,
  last_outcome TEXT NOT NULL,
  PRIMARY KEY (name, owner)
) WITHOUT ROWID;
`;
