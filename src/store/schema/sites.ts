/**
 * Tables: sites, their clients and tags. `site` has narrow rows, for lists; details and secrets are apart. What lists
 * count is kept by triggers, in the transaction that changes the rows: counting a large fleet costs more than a list, and no
 * code path can forget it.
 */

import { refuseFormerKeys } from './sealed.js';

export const sites = `
-- Clients and tags ---------------------------------------------------------------------------------------------------
CREATE TABLE client (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  email TEXT NOT NULL DEFAULT '',
  email_key TEXT UNIQUE,
  phone TEXT NOT NULL DEFAULT '',
  address_1 TEXT NOT NULL DEFAULT '',
  address_2 TEXT NOT NULL DEFAULT '',
  city TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '',
  zip TEXT NOT NULL DEFAULT '',
  country TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '',
  suspended INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX client_by_name ON client (name_key, id);

CREATE TABLE tag (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  color TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE TABLE site_tag (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
  PRIMARY KEY (site_id, tag_id)
) WITHOUT ROWID;
CREATE INDEX site_tag_by_tag ON site_tag (tag_id, site_id);

-- Sites --------------------------------------------------------------------------------------------------------------
CREATE TABLE site (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  url TEXT NOT NULL UNIQUE,
  -- The URL without scheme and www., which identifies the site and orders lists: the same address with another scheme or
  -- with www. is the same WordPress, and adding it again is refused.
  url_key TEXT NOT NULL,
  name TEXT NOT NULL,
  search TEXT NOT NULL,
  client_id INTEGER REFERENCES client (id) ON DELETE SET NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  -- The client whose suspension suspended the site; NULL when it was suspended on its own, or is not suspended.
  suspended_with INTEGER,
  -- 2 = disconnected while it was suspended: the later of the two shows.
  disconnected INTEGER NOT NULL DEFAULT 0,
  sync_error TEXT NOT NULL DEFAULT '',
  -- 1 = the newest look at the front page did not reach it; 2 = that was a check without any answer, and the site has answered
  -- nothing since.
  unreached INTEGER NOT NULL DEFAULT 0,
  -- The only derivation of the status: items, filters and counts all read it, so that they cannot disagree.
  status TEXT GENERATED ALWAYS AS (
    CASE
      WHEN disconnected = 2 THEN 'disconnected'
      WHEN suspended = 1 THEN 'suspended'
      WHEN disconnected = 1 OR sync_error <> '' OR unreached = 2 THEN 'disconnected'
      ELSE 'connected'
    END
  ) VIRTUAL,
  created_at INTEGER NOT NULL
);
CREATE INDEX site_by_url ON site (url_key, id);
CREATE INDEX site_by_status ON site (status, url_key, id);
CREATE INDEX site_by_client ON site (client_id, url_key, id) WHERE client_id IS NOT NULL;
-- Lists in name order, the default of REST site lists.
CREATE INDEX site_by_name ON site (name COLLATE NOCASE, url_key, id);
CREATE INDEX site_by_status_name ON site (status, name COLLATE NOCASE, url_key, id);

CREATE TABLE site_detail (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  admin_username TEXT NOT NULL DEFAULT '',
  notes TEXT NOT NULL DEFAULT '',
  -- 1 = on trial beside another dashboard: it is read, never changed, until the trial is ended.
  on_trial INTEGER NOT NULL DEFAULT 0,
  -- How often a site was asked for the title that it is to be named by; NULL = it has its name.
  title_tries INTEGER,

  -- What the site said of itself at the last sync.
  child_version TEXT NOT NULL DEFAULT '',
  wp_version TEXT NOT NULL DEFAULT '',
  php_version TEXT NOT NULL DEFAULT '',
  mysql_version TEXT NOT NULL DEFAULT '',
  memory_limit TEXT NOT NULL DEFAULT '',
  database_size TEXT NOT NULL DEFAULT '',
  language TEXT NOT NULL DEFAULT '',
  ip TEXT NOT NULL DEFAULT '',
  timezone TEXT NOT NULL DEFAULT '',
  gmt_offset TEXT NOT NULL DEFAULT '',
  debug_mode INTEGER,
  search_visible INTEGER,
  health_good INTEGER,
  health_recommended INTEGER,
  health_critical INTEGER,
  last_post INTEGER,
  -- The active backup plugin that syncs ask for, by the child's name; '' = none that it knows. When that plugin last made a
  -- backup (unix seconds, NULL unknown), and when the site was last asked (ms, NULL never).
  backup_plugin TEXT NOT NULL DEFAULT '',
  last_backup INTEGER,
  backup_looked_at INTEGER,

  -- Last success, last try (ms), and the code of its failure.
  last_sync INTEGER,
  last_attempt INTEGER,
  sync_error_code TEXT NOT NULL DEFAULT '',
  -- Which address answered the last sync: 'ajax', 'root', or '' while unknown.
  door TEXT NOT NULL DEFAULT '',
  -- When the status became what it is (ms); NULL unknown. 0 = it has just changed: the batch that changed it writes the time.
  status_since INTEGER,
  -- The last visit of the front page. reachable: 1 up, 0 down, NULL never visited or undecided.
  http_status INTEGER,
  response_time_ms INTEGER,
  checked_at INTEGER,
  reachable INTEGER,
  -- The last try to look up abandoned plugins and themes, and the last that succeeded.
  abandoned_checked_at INTEGER,
  abandoned_known_at INTEGER,
  -- Newest entry of the child's change list that is stored: unix seconds with fraction.
  changes_after REAL NOT NULL DEFAULT 0,
  -- Digest of the last stored inventory: an unchanged site costs one small write. Code that changes the inventory otherwise,
  -- for example drops an update, must clear it, or an update that returns would count as stored already.
  content_hash TEXT NOT NULL DEFAULT '',

  -- Settings of the site. 2 = as the global setting says, where a site may follow it.
  ssl_verify INTEGER NOT NULL DEFAULT 1,
  ssl_version INTEGER NOT NULL DEFAULT 0,
  force_use_ipv4 INTEGER NOT NULL DEFAULT 2,
  automatic_update INTEGER NOT NULL DEFAULT 0,
  backup_before_upgrade INTEGER NOT NULL DEFAULT 2,
  disable_health_checking INTEGER NOT NULL DEFAULT 2,
  -- Lowest score that counts as good; 0 = as the global setting says.
  health_threshold INTEGER NOT NULL DEFAULT 0,
  -- Addresses, comma-separated; '' = as the global setting says.
  monitoring_emails TEXT NOT NULL DEFAULT '',
  is_staging INTEGER NOT NULL DEFAULT 0,
  -- Hide all available updates of a type.
  ignore_core INTEGER NOT NULL DEFAULT 0,
  ignore_plugins INTEGER NOT NULL DEFAULT 0,
  ignore_themes INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX site_detail_by_attempt ON site_detail (last_attempt);
CREATE INDEX site_detail_by_sync ON site_detail (last_sync);
CREATE INDEX site_detail_unreachable ON site_detail (checked_at) WHERE reachable = 0;
CREATE INDEX site_detail_by_abandoned ON site_detail (abandoned_checked_at);
CREATE INDEX site_detail_abandoned_unknown ON site_detail (site_id) WHERE abandoned_known_at IS NULL;
CREATE INDEX site_detail_by_wp ON site_detail (wp_version);
CREATE INDEX site_detail_by_php ON site_detail (php_version);
CREATE INDEX site_detail_by_child ON site_detail (child_version);
CREATE INDEX site_detail_on_trial ON site_detail (site_id) WHERE on_trial = 1;
CREATE INDEX site_detail_status_changed ON site_detail (site_id) WHERE status_since = 0;

-- Sealed with AES-256-GCM by the vault; never read by a list.
CREATE TABLE site_secret (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  private_key TEXT NOT NULL,
  regverify TEXT,
  unique_id TEXT,
  http_user TEXT,
  http_pass TEXT
);
${refuseFormerKeys('site_secret', ['private_key', 'regverify', 'unique_id', 'http_user', 'http_pass'])}
-- Searching by any part of a name or an address ----------------------------------------------------------------------
CREATE VIRTUAL TABLE site_search USING fts5 (search, content='site', content_rowid='id', tokenize='trigram', detail='full');
CREATE TRIGGER site_search_insert AFTER INSERT ON site BEGIN
  INSERT INTO site_search (rowid, search) VALUES (new.id, new.search);
END;
CREATE TRIGGER site_search_delete AFTER DELETE ON site BEGIN
  INSERT INTO site_search (site_search, rowid, search) VALUES ('delete', old.id, old.search);
END;
CREATE TRIGGER site_search_update AFTER UPDATE OF search ON site WHEN old.search <> new.search BEGIN
  INSERT INTO site_search (site_search, rowid, search) VALUES ('delete', old.id, old.search);
  INSERT INTO site_search (rowid, search) VALUES (new.id, new.search);
END;

-- How many sites have which status, and since when -------------------------------------------------------------------
CREATE TABLE site_count (status TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO site_count VALUES ('connected', 0), ('disconnected', 0), ('suspended', 0);
CREATE TRIGGER site_count_insert AFTER INSERT ON site BEGIN
  UPDATE site_count SET n = n + 1 WHERE status = new.status;
END;
CREATE TRIGGER site_count_delete AFTER DELETE ON site BEGIN
  UPDATE site_count SET n = n - 1 WHERE status = old.status;
END;
CREATE TRIGGER site_count_update AFTER UPDATE ON site WHEN old.status <> new.status BEGIN
  UPDATE site_count SET n = n - 1 WHERE status = old.status;
  UPDATE site_count SET n = n + 1 WHERE status = new.status;
END;
CREATE TRIGGER site_status_since AFTER UPDATE ON site WHEN old.status <> new.status BEGIN
  UPDATE site_detail SET status_since = 0 WHERE site_id = new.id;
END;

-- Suspension, also along with a client -------------------------------------------------------------------------------
CREATE TRIGGER site_suspension_shows AFTER UPDATE OF suspended ON site WHEN new.disconnected = 2 BEGIN
  UPDATE site SET disconnected = 1 WHERE id = new.id;
END;
CREATE TRIGGER site_added_to_client AFTER INSERT ON site
  WHEN new.suspended = 0 AND EXISTS (SELECT 1 FROM client WHERE id = new.client_id AND suspended = 1) BEGIN
  UPDATE site SET suspended = 1, suspended_with = new.client_id WHERE id = new.id;
END;
-- A suspension stays when the site comes to another client or loses its own, and belongs to the site from then on.
CREATE TRIGGER site_changes_client AFTER UPDATE OF client_id ON site
  WHEN old.client_id IS NOT new.client_id AND new.suspended_with IS NOT NULL BEGIN
  UPDATE site SET suspended_with = NULL WHERE id = new.id;
END;
CREATE TRIGGER site_unsuspended AFTER UPDATE OF suspended ON site
  WHEN new.suspended = 0 AND new.suspended_with IS NOT NULL BEGIN
  UPDATE site SET suspended_with = NULL WHERE id = new.id;
END;

-- What was done -------------------------------------------------------------------------------------------------------
-- Everything done through this service, also what failed, as a chain: rows are only appended. It outlives the sites, clients
-- and users that it names. Of context "call" is what was called, stored with the first change that the call made.
CREATE TABLE action_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  -- Who: kind of the principal, its row or NULL, its name.
  actor_type TEXT NOT NULL DEFAULT '',
  actor_id INTEGER,
  actor TEXT NOT NULL DEFAULT '',
  -- The way in: mcp, run, rest, cli, jobs; and the program that called, as it names itself.
  via TEXT NOT NULL DEFAULT '',
  client TEXT NOT NULL DEFAULT '',
  -- The id of the operation or the REST row that was called; '' for what the service did automatically.
  operation TEXT NOT NULL DEFAULT '',
  request_id TEXT NOT NULL DEFAULT '',
  -- NULL for what concerns no single site.
  site_id INTEGER,
  context TEXT NOT NULL,
  action TEXT NOT NULL,
  -- What identifies the object: a slug or an id.
  slug TEXT NOT NULL DEFAULT '',
  name TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '',
  old_version TEXT NOT NULL DEFAULT '',
  new_version TEXT NOT NULL DEFAULT '',
  -- '' when it was done, otherwise why it was not.
  code TEXT NOT NULL DEFAULT '',
  -- JSON of what was asked for, without secrets; '' for what a call did.
  input TEXT NOT NULL DEFAULT '',
  -- JSON of what changed: by field, what it was before and what it is since, or null where that is not kept; '' = not known.
  fields TEXT NOT NULL DEFAULT '',
  -- Ids of the entries that it undoes, with commas.
  undoes TEXT NOT NULL DEFAULT '',
  -- The hash of the row before, and that over this one: SHA-256 in hex.
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE INDEX action_log_of_site ON action_log (site_id, at DESC, id DESC);
CREATE INDEX action_log_newest ON action_log (at DESC, id DESC);
CREATE INDEX action_log_of_actor ON action_log (actor, at DESC, id DESC);
CREATE INDEX action_log_of_operation ON action_log (operation, at DESC, id DESC);
CREATE INDEX action_log_of_request ON action_log (request_id, at DESC, id DESC);
-- What was done, counted by kind without reading the rows.
CREATE INDEX action_log_done ON action_log (at, context, action, site_id) WHERE code = '';
-- What undoes others, which is little.
CREATE INDEX action_log_undoing ON action_log (id) WHERE undoes <> '';
-- Up to which row the log was pruned, signed. The newest is the beginning of what is left.
CREATE TABLE action_log_checkpoint (
  through INTEGER PRIMARY KEY,
  -- The hash of that row.
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- Ed25519 in base64, and its key: SPKI in base64.
  signature TEXT NOT NULL,
  public_key TEXT NOT NULL
);
CREATE VIEW action_log_head AS
  SELECT id, hash FROM (SELECT * FROM (SELECT id, hash FROM action_log ORDER BY id DESC LIMIT 1)
    UNION ALL SELECT * FROM (SELECT through, hash FROM action_log_checkpoint ORDER BY through DESC LIMIT 1))
  ORDER BY id DESC LIMIT 1;
CREATE TRIGGER action_log_chained BEFORE INSERT ON action_log
  WHEN new.id <> coalesce((SELECT id FROM action_log_head), 0) + 1 OR new.previous <> coalesce((SELECT hash FROM action_log_head), '')
BEGIN
  SELECT RAISE(ABORT, 'action_log_moved');
END;
CREATE TRIGGER action_log_final BEFORE UPDATE ON action_log BEGIN
  SELECT RAISE(ABORT, 'the action log is never changed');
END;
CREATE TRIGGER action_log_kept BEFORE DELETE ON action_log
  WHEN old.id > coalesce((SELECT max(through) FROM action_log_checkpoint), 0)
BEGIN
  SELECT RAISE(ABORT, 'the action log is pruned only up to a signed checkpoint');
END;

-- What changed on a site ----------------------------------------------------------------------------------------------
-- What others changed on a site, as the child reports it.
CREATE TABLE site_change (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  child_id TEXT NOT NULL,
  context TEXT NOT NULL,
  action TEXT NOT NULL,
  item TEXT NOT NULL,
  slug TEXT NOT NULL DEFAULT '',
  summary TEXT NOT NULL DEFAULT '',
  detail TEXT NOT NULL DEFAULT '',
  -- Versions of an extension or of WordPress, roles of a user.
  old_value TEXT NOT NULL DEFAULT '',
  new_value TEXT NOT NULL DEFAULT '',
  user_login TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  -- Unix seconds with fraction.
  created REAL NOT NULL,
  duration REAL,
  UNIQUE (site_id, source, child_id)
);
CREATE INDEX site_change_newest ON site_change (site_id, created DESC, id DESC);
-- The newest of all sites.
CREATE INDEX site_change_of_fleet ON site_change (created DESC, id DESC);

-- Changes that were sent to a site, and of which is not known yet whether they took effect.
CREATE TABLE open_change (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  -- core, plugin, theme, translation
  context TEXT NOT NULL,
  -- updated, activated, deactivated, deleted
  action TEXT NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  old_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  -- Who asked for it, JSON.
  origin TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (site_id, context, slug)
) WITHOUT ROWID;
`;
