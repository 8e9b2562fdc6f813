/** One log of what was done through this service, in place of the history of plugins, themes, WordPress and translations. */
export const actionLog = `
CREATE TABLE action_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  -- Who: kind of the principal, its row or null, its name. Empty for entries from before this log.
  actor_type TEXT NOT NULL DEFAULT '',
  actor_id INTEGER,
  actor TEXT NOT NULL DEFAULT '',
  -- The way in: mcp, run, rest, cli, jobs.
  via TEXT NOT NULL DEFAULT '',
  -- The id of the operation or the REST row that was called; empty for what the service did by itself.
  operation TEXT NOT NULL DEFAULT '',
  request_id TEXT NOT NULL DEFAULT '',
  -- Null for what concerns no single site, and for a site that was deleted.
  site_id INTEGER REFERENCES site (id) ON DELETE CASCADE,
  context TEXT NOT NULL,
  action TEXT NOT NULL,
  -- What identifies the object: a slug or an id.
  slug TEXT NOT NULL DEFAULT '',
  name TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '',
  old_version TEXT NOT NULL DEFAULT '',
  new_version TEXT NOT NULL DEFAULT '',
  -- Empty when it was done, else why it was not.
  code TEXT NOT NULL DEFAULT ''
);
CREATE INDEX action_log_of_site ON action_log (site_id, at DESC, id DESC);
CREATE INDEX action_log_newest ON action_log (at DESC, id DESC);
INSERT INTO action_log (id, at, site_id, context, action, slug, name, old_version, new_version)
  SELECT id, at, site_id, context, action, slug, name, old_version, new_version FROM site_history ORDER BY id;
DROP TABLE site_history;

-- Who queued a job, JSON: its deeds are theirs.
ALTER TABLE job ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_job ADD COLUMN origin TEXT NOT NULL DEFAULT '';
`;
