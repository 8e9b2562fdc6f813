/** Tables: backups of sites. What they consist of is in the repository of backups; these rows say what there is. */
const replan = (where: string) => `UPDATE backup_turn SET planned = min(planned, 1) - 1 WHERE ${where};`;
const resumed = (site: string) => replan(`site_id = new.${site} AND planned = 2`);
/** Turns that a rule may concern. */
const replanned = (rule: 'new' | 'old') =>
  replan(`${rule}.place = 'fleet' OR site_id = ${rule}.site_id
    OR site_id IN (SELECT site_id FROM site_tag WHERE tag_id = ${rule}.tag_id)`);

export const backups = `
-- Outlives its site.
CREATE TABLE backup (
  id TEXT PRIMARY KEY,
  site_id INTEGER NOT NULL,
  site_url TEXT NOT NULL,
  -- 'running', 'done', 'failed'
  state TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  -- When the process that makes it was last at work.
  alive_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- JSON: what is stored already, for the process that goes on with it; NULL once it is done.
  progress TEXT,
  -- JSON: figures and what is to be known of it; NULL until it is done.
  facts TEXT,
  error TEXT,
  -- The last check of it: when, and 'sound' or what is wrong.
  checked_at INTEGER,
  checked TEXT
);
CREATE INDEX backup_site ON backup (site_id, started_at);
CREATE INDEX backup_started ON backup (started_at);
CREATE UNIQUE INDEX backup_running ON backup (site_id) WHERE state = 'running';

-- How often sites are backed up: all of them, those with a tag, or one. The narrowest rule holds.
CREATE TABLE backup_rule (
  -- 'fleet', 'tag:5', 'site:7'
  place TEXT PRIMARY KEY,
  tag_id INTEGER UNIQUE REFERENCES tag (id) ON DELETE CASCADE,
  site_id INTEGER UNIQUE REFERENCES site (id) ON DELETE CASCADE,
  every TEXT NOT NULL CHECK (every IN ('off', 'daily', 'weekly', 'monthly')),
  -- Of the site's own time.
  hour INTEGER NOT NULL
) WITHOUT ROWID;

-- The next turn of each site by these rules.
CREATE TABLE backup_turn (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  -- 1 = planned; 2 = it was due, and waits until the site can be backed up; 0 and below = to be planned again, counted down
  -- so that a change made meanwhile is not missed.
  planned INTEGER NOT NULL DEFAULT 0,
  -- NULL = it is not backed up by schedule.
  next_at INTEGER,
  -- How often the turn that is due was begun.
  tries INTEGER NOT NULL DEFAULT 0,
  -- Since when none has succeeded; NULL = the last one did, or there was none.
  failing_since INTEGER
);
CREATE INDEX backup_turn_due ON backup_turn (next_at) WHERE planned = 1;
CREATE INDEX backup_turn_unplanned ON backup_turn (site_id) WHERE planned <= 0;
CREATE INDEX backup_turn_missed ON backup_turn (site_id) WHERE planned = 2 OR failing_since IS NOT NULL;
CREATE TRIGGER backup_turn_insert AFTER INSERT ON site BEGIN
  INSERT INTO backup_turn (site_id) VALUES (new.id);
END;
CREATE TRIGGER backup_turn_rule_insert AFTER INSERT ON backup_rule BEGIN ${replanned('new')} END;
CREATE TRIGGER backup_turn_rule_delete AFTER DELETE ON backup_rule BEGIN ${replanned('old')} END;
CREATE TRIGGER backup_turn_tagged AFTER INSERT ON site_tag BEGIN ${replan('site_id = new.site_id')} END;
CREATE TRIGGER backup_turn_untagged AFTER DELETE ON site_tag BEGIN ${replan('site_id = old.site_id')} END;
CREATE TRIGGER backup_turn_clock AFTER UPDATE OF timezone, gmt_offset ON site_detail
WHEN new.timezone <> old.timezone OR new.gmt_offset <> old.gmt_offset BEGIN ${replan('site_id = new.site_id')} END;
-- What a turn may have waited for.
CREATE TRIGGER backup_turn_status AFTER UPDATE ON site WHEN old.status <> new.status BEGIN ${resumed('id')} END;
CREATE TRIGGER backup_turn_trial AFTER UPDATE OF on_trial ON site_detail WHEN new.on_trial <> old.on_trial BEGIN ${resumed('site_id')} END;
CREATE TRIGGER backup_turn_guard AFTER INSERT ON site_guard BEGIN ${resumed('site_id')} END;
CREATE TRIGGER backup_turn_guard_back AFTER UPDATE OF present ON site_guard WHEN new.present <> old.present BEGIN ${resumed('site_id')} END;
-- The last trial restore of a backup. Outlives it, so that it is known when one of the site was last proven.
CREATE TABLE backup_drill (
  backup_id TEXT PRIMARY KEY,
  site_id INTEGER NOT NULL,
  -- The last attempt, and how it ended. One that could not verify anything does not replace an earlier result.
  tried_at INTEGER NOT NULL,
  tried TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- 'proven', 'failed', 'could_not_verify'
  result TEXT NOT NULL,
  -- JSON: the reason, and what was compared.
  facts TEXT NOT NULL
);
CREATE INDEX backup_drill_site ON backup_drill (site_id, at);

-- A restore that has not ended: what a repeated call goes on with.
CREATE TABLE backup_restore (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  -- 32 hex digits, by which the site knows it.
  job TEXT NOT NULL,
  backup_id TEXT NOT NULL,
  -- JSON: what is restored.
  selection TEXT NOT NULL,
  -- JSON: what was sent to the site and compared there; NULL = nothing that a repeated call could go on with.
  sent TEXT,
  started_at INTEGER NOT NULL,
  alive_at INTEGER NOT NULL
);

-- Files of the repository that hold chunks.
CREATE TABLE backup_pack (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  -- When no backup was found to need it; NULL = one does.
  unused_since INTEGER
);

-- Where each chunk is.
CREATE TABLE backup_chunk (
  id TEXT PRIMARY KEY,
  pack_id INTEGER NOT NULL REFERENCES backup_pack (id),
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX backup_chunk_pack ON backup_chunk (pack_id, start);
`;
