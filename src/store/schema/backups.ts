/** Tables: backups of sites. What they consist of is in the repository of backups; these rows say what there is. */
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

-- A restore that has not ended: what a repeated call goes on with.
CREATE TABLE backup_restore (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  -- 32 hex digits, by which the site knows it.
  job TEXT NOT NULL,
  backup_id TEXT NOT NULL,
  -- JSON: what is restored.
  selection TEXT NOT NULL,
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
