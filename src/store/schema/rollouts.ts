/** Tables: plans of updates, the rollouts that carry them out, and when each version was first on offer. */
export const rollouts = `
-- When a version was first seen on offer, on which site, and when on another one. No row: not known.
CREATE TABLE offered_version (
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  first_site INTEGER NOT NULL,
  -- NULL = on no other.
  second_seen INTEGER,
  PRIMARY KEY (type, slug, version)
) WITHOUT ROWID;

-- A plan is kept as it was shown, until it lapses or its rollout is deleted.
CREATE TABLE rollout_plan (
  id TEXT PRIMARY KEY,
  -- Over all that a rollout would do.
  digest TEXT NOT NULL,
  -- The credential that made it, and whose later plans take its place.
  maker TEXT NOT NULL,
  -- Its name then.
  maker_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- JSON: the rules of its rollout.
  rules TEXT NOT NULL
);
CREATE INDEX rollout_plan_digest ON rollout_plan (digest);
CREATE INDEX rollout_plan_of_maker ON rollout_plan (maker, created_at DESC, id);

CREATE TABLE rollout_plan_item (
  plan_id TEXT NOT NULL REFERENCES rollout_plan (id) ON DELETE CASCADE,
  -- The record outlives the site.
  site_id INTEGER NOT NULL,
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  old_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  level INTEGER,
  protection TEXT NOT NULL,
  -- From 1.
  wave INTEGER NOT NULL,
  PRIMARY KEY (plan_id, site_id, type, slug)
) WITHOUT ROWID;

CREATE TABLE rollout (
  id TEXT PRIMARY KEY,
  -- A plan starts one rollout only.
  plan_id TEXT NOT NULL UNIQUE REFERENCES rollout_plan (id),
  digest TEXT NOT NULL,
  rules TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'completed', 'halted', 'aborted')),
  -- Why it is in this state.
  reason TEXT NOT NULL DEFAULT '',
  -- Who started it: name, and JSON of all that is known of the caller.
  actor TEXT NOT NULL,
  origin TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  -- When all that was at work at its end had ended, and its outcome was told.
  settled_at INTEGER
);
CREATE INDEX rollout_newest ON rollout (started_at);
CREATE INDEX rollout_open ON rollout (id) WHERE settled_at IS NULL;

CREATE TABLE rollout_wave (
  rollout_id TEXT NOT NULL REFERENCES rollout (id) ON DELETE CASCADE,
  wave INTEGER NOT NULL,
  sites INTEGER NOT NULL,
  items INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'soaking', 'done')),
  approved_by TEXT,
  started_at INTEGER,
  -- When its last site had its turn.
  worked_at INTEGER,
  soak_until INTEGER,
  -- The job that looks at its sites once it has soaked. Stored before it is queued.
  check_job TEXT,
  PRIMARY KEY (rollout_id, wave)
) WITHOUT ROWID;

CREATE TABLE rollout_site (
  rollout_id TEXT NOT NULL REFERENCES rollout (id) ON DELETE CASCADE,
  site_id INTEGER NOT NULL,
  wave INTEGER NOT NULL,
  -- Its clock when the rollout started: a site that moves through the zones would never have its window.
  timezone TEXT NOT NULL DEFAULT '',
  gmt_offset TEXT NOT NULL DEFAULT '',
  -- The run that its turn belongs to; NULL = it was not touched.
  run_id TEXT,
  -- How often its window had closed when its turn came.
  missed INTEGER NOT NULL DEFAULT 0,
  -- Why its turn never comes; '' = it comes, or came.
  code TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL DEFAULT '',
  -- 1 = it was down after its updates had been kept, when the rollout halted.
  down INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (rollout_id, site_id)
) WITHOUT ROWID;
CREATE INDEX rollout_site_wave ON rollout_site (rollout_id, wave, run_id);

-- The runs of its sites. Stored before the job of the run is queued: a process that finds one without queues it.
CREATE TABLE rollout_run (
  run_id TEXT PRIMARY KEY,
  rollout_id TEXT NOT NULL REFERENCES rollout (id) ON DELETE CASCADE,
  wave INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX rollout_run_wave ON rollout_run (rollout_id, wave);

-- Items that go to no further site, because one had to be rolled back.
CREATE TABLE rollout_halt (
  rollout_id TEXT NOT NULL REFERENCES rollout (id) ON DELETE CASCADE,
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  -- The site that showed it.
  site_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (rollout_id, type, slug, version)
) WITHOUT ROWID;

-- What is planned at which times. People make and delete rows, but for the one of the settings, which is written with them.
CREATE TABLE policy (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL DEFAULT 'person' CHECK (source IN ('person', 'settings')),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  enabled INTEGER NOT NULL,
  -- JSON: filters, waves, window, approval, schedule.
  definition TEXT NOT NULL,
  -- JSON: ids of the sites on which a person has agreed that it acts without being asked.
  agreed_sites TEXT NOT NULL DEFAULT '[]',
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  -- The newest time at which it was due and that was taken up; at first when it was made.
  due_at INTEGER NOT NULL,
  -- What became of that: begun and planned are steps on the way.
  state TEXT NOT NULL DEFAULT '' CHECK (state IN ('', 'begun', 'planned', 'started', 'asked', 'nothing', 'failed', 'skipped', 'missed')),
  detail TEXT NOT NULL DEFAULT '',
  -- Its newest plan, and the request to approve it.
  plan_id TEXT,
  digest TEXT,
  approval_id TEXT
);
`;
