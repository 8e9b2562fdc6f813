/** Tables: safe updates. */
export const safety = `
-- What is known of the guard of a site, since it was last looked for. A site without a row was never looked at.
CREATE TABLE site_guard (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  -- 1 = it answered; 2 = it did once, but not the last time; 0 = none was found.
  present INTEGER NOT NULL,
  -- JSON of its own greeting; NULL while it never answered.
  hello TEXT,
  -- When it last answered, and when it was last looked for.
  answered_at INTEGER,
  looked_at INTEGER NOT NULL
);

-- Pages of a site that safe updates look at besides the fixed ones: JSON, found on the site itself.
CREATE TABLE site_pages (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  pages TEXT NOT NULL,
  found_at INTEGER NOT NULL
);

-- Sites of runs with items that have no outcome yet: JSON of their settings and of the site as it was before.
CREATE TABLE safe_change_run (
  id TEXT NOT NULL,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  facts TEXT NOT NULL,
  PRIMARY KEY (id, site_id)
) WITHOUT ROWID;

-- One row for each item of a safe run. The step is written before it is taken, so that a process that dies leaves behind
-- what has to be checked.
CREATE TABLE safe_change (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- Number of the update type.
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  old_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  protection TEXT NOT NULL,
  step TEXT NOT NULL,
  -- NULL while the item is open.
  outcome TEXT,
  -- Of the guard: the copy of the old version, its digest, and until when it is armed by the clock of the site (seconds).
  snapshot TEXT,
  digest TEXT,
  armed_until INTEGER,
  -- JSON: what was seen.
  evidence TEXT,
  started_at INTEGER NOT NULL,
  -- When the update was sent, and when the item got its outcome.
  updated_at INTEGER,
  settled_at INTEGER,
  -- When the guard's record is read next because of it; moved ahead by a process that is reading. NULL = not watched.
  watch_at INTEGER
);
CREATE INDEX safe_change_open ON safe_change (site_id, run_id, position) WHERE settled_at IS NULL;
CREATE INDEX safe_change_watch ON safe_change (watch_at, site_id) WHERE watch_at IS NOT NULL;
CREATE INDEX safe_change_run_items ON safe_change (run_id, site_id);
CREATE INDEX safe_change_site ON safe_change (site_id, started_at);
CREATE INDEX safe_change_outcome ON safe_change (outcome, settled_at);
CREATE INDEX safe_change_snapshot ON safe_change (snapshot) WHERE snapshot IS NOT NULL;

-- Versions that broke a site, quarantined until a person lifts it.
CREATE TABLE quarantined_version (
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Where it happened. The entry outlives the site and the change.
  site_id INTEGER NOT NULL,
  site_url TEXT NOT NULL,
  change_id TEXT NOT NULL,
  evidence TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  lifted_at INTEGER,
  lifted_by TEXT,
  -- 'site': on the sites of quarantine_site; 'fleet': on all. One site, or its visitors, may not decide for all others.
  scope TEXT NOT NULL,
  -- The person who set the scope, and why; null = it follows from what was seen.
  scope_by TEXT,
  scope_reason TEXT,
  -- When the scope ends to be the fleet, if no other site confirms it; null = it does not end.
  fleet_until INTEGER,
  PRIMARY KEY (type, slug, version)
) WITHOUT ROWID;

-- The sites that a version broke.
CREATE TABLE quarantine_site (
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  site_id INTEGER NOT NULL,
  -- 1 = the answers to requests of Sitefleet showed it, 0 = only the guard of the site says so.
  seen INTEGER NOT NULL,
  PRIMARY KEY (type, slug, version, site_id)
) WITHOUT ROWID;
`;
