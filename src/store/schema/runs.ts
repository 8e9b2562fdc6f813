/** Tables: runs of updates. Triggers keep them in step with jobs and safe updates, so that no code path can forget it. */
export const runs = `
-- One call that changes updates, with the job that does or finishes it. It is kept longer than the job.
CREATE TABLE update_run (
  id TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  -- NULL while the call or the job is at work.
  ended_at INTEGER,
  job_id TEXT,
  -- 1 = a person has ended its job.
  cancelled INTEGER NOT NULL DEFAULT 0,
  -- The process of the call.
  owner TEXT NOT NULL,
  -- Who asked for it: name, way in, operation; and JSON of all that is known of the caller.
  actor TEXT NOT NULL,
  origin TEXT NOT NULL,
  -- JSON: the types and items that were asked for; and how many sites.
  asked TEXT NOT NULL,
  sites INTEGER NOT NULL
);
CREATE INDEX update_run_newest ON update_run (started_at);
CREATE INDEX update_run_open ON update_run (id) WHERE ended_at IS NULL;

CREATE TABLE update_run_item (
  run_id TEXT NOT NULL REFERENCES update_run (id) ON DELETE CASCADE,
  -- The record outlives the site.
  site_id INTEGER NOT NULL,
  -- Number of the update type; 4 = the site as a whole.
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  old_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  protection TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'updating', 'checking', 'kept', 'rolled_back', 'failed', 'skipped', 'unknown')),
  code TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL DEFAULT '',
  -- Of safe_change, if it is an item of a safe update.
  change_id TEXT NOT NULL,
  -- The backup of the site that had to be there first; NULL = none had to.
  backup_id TEXT,
  finished_at INTEGER,
  PRIMARY KEY (run_id, site_id, type, slug)
) WITHOUT ROWID;
CREATE INDEX update_run_item_change ON update_run_item (change_id);
CREATE INDEX update_run_item_state ON update_run_item (run_id, state, site_id);
CREATE INDEX update_run_item_open ON update_run_item (run_id) WHERE state IN ('queued', 'updating', 'checking');
CREATE INDEX update_run_item_site ON update_run_item (site_id, type, slug);

-- What became of a site in a run, as JSON that is signed as it is; and pictures of its pages (WebP in base64).
CREATE TABLE run_receipt (
  run_id TEXT NOT NULL REFERENCES update_run (id) ON DELETE CASCADE,
  site_id INTEGER NOT NULL,
  document TEXT NOT NULL,
  signature TEXT NOT NULL,
  public_key TEXT NOT NULL,
  PRIMARY KEY (run_id, site_id)
) WITHOUT ROWID;
CREATE TABLE run_picture (
  -- Ascending: the oldest go first.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES update_run (id) ON DELETE CASCADE,
  site_id INTEGER NOT NULL,
  page TEXT NOT NULL,
  device TEXT NOT NULL,
  taken TEXT NOT NULL CHECK (taken IN ('before', 'after')),
  sha256 TEXT NOT NULL,
  file TEXT NOT NULL
);
CREATE INDEX run_picture_site ON run_picture (run_id, site_id);

CREATE TRIGGER update_run_job AFTER INSERT ON job WHEN new.run_id <> '' BEGIN
  UPDATE update_run SET job_id = new.id, ended_at = NULL WHERE id = new.run_id;
END;
CREATE TRIGGER update_run_job_end AFTER UPDATE OF completed_at ON job WHEN new.run_id <> '' AND new.completed_at IS NOT NULL BEGIN
  UPDATE update_run SET ended_at = new.completed_at,
    cancelled = EXISTS (SELECT 1 FROM job_site WHERE job_id = new.id AND code = 'svc_cancelled') WHERE id = new.run_id;
  -- Sites that it refused, did not reach, or could not work on at all.
  INSERT OR IGNORE INTO update_run_item (run_id, site_id, type, slug, name, old_version, new_version, protection, state, code, message,
    change_id, finished_at)
  SELECT new.run_id, s.site_id, 4, '', '', '', '', 'none', 'skipped', coalesce(nullif(s.code, ''), 'svc_job_timeout'),
    coalesce(nullif(s.message, ''), 'The job ended before its turn.'), 'change_' || lower(hex(randomblob(16))), new.completed_at
  FROM job_site s WHERE s.job_id = new.id AND s.site_id > 0 AND s.state IN (0, 1, 3, 4)
    AND NOT EXISTS (SELECT 1 FROM update_run_item i WHERE i.run_id = new.run_id AND i.site_id = s.site_id);
END;
CREATE TRIGGER update_run_item_begin AFTER INSERT ON safe_change BEGIN
  UPDATE update_run_item SET state = 'updating', change_id = new.id
  WHERE run_id = new.run_id AND site_id = new.site_id AND type = new.type AND slug = new.slug;
END;
CREATE TRIGGER update_run_item_step AFTER UPDATE OF step, outcome ON safe_change BEGIN
  UPDATE update_run_item SET new_version = new.new_version, state = CASE
    WHEN new.outcome IN ('kept', 'rolled_back') THEN new.outcome
    WHEN new.outcome = 'broken' THEN 'failed'
    -- Nothing was sent before the step "update".
    WHEN new.outcome = 'not_updated' THEN CASE WHEN new.step IN ('snapshot', 'arm') THEN 'skipped' ELSE 'failed' END
    WHEN new.step IN ('snapshot', 'arm', 'update') THEN 'updating'
    ELSE 'checking' END
  WHERE change_id = new.id;
END;
`;
