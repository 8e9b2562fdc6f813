/**
 * The first schema. Narrow `site` rows for lists; secrets and details apart; the inventory normalised; what lists count is
 * kept by triggers, so that no code path can forget it.
 */
export const init = `
CREATE TABLE instance (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at INTEGER NOT NULL) WITHOUT ROWID;

-- Who may log in -----------------------------------------------------------------------------------------------------
CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  rights TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE TABLE api_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  version TEXT NOT NULL CHECK (version IN ('v1', 'v2')),
  legacy_id TEXT UNIQUE,
  key_hash TEXT UNIQUE,
  secret_hash TEXT NOT NULL DEFAULT '',
  last7 TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'read_write')),
  enabled INTEGER NOT NULL DEFAULT 1,
  user_id INTEGER REFERENCES user (id) ON DELETE SET NULL,
  last_access INTEGER,
  created_at INTEGER NOT NULL
);

-- Clients, tags ------------------------------------------------------------------------------------------------------
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

-- Sites --------------------------------------------------------------------------------------------------------------
-- url_key: URL without scheme and www., the form that identifies and that lists are ordered by.
CREATE TABLE site (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  url TEXT NOT NULL UNIQUE,
  url_key TEXT NOT NULL,
  name TEXT NOT NULL,
  search TEXT NOT NULL,
  client_id INTEGER REFERENCES client (id) ON DELETE SET NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  disconnected INTEGER NOT NULL DEFAULT 0,
  check_state INTEGER NOT NULL DEFAULT 0 CHECK (check_state IN (-1, 0, 1)),
  sync_error TEXT NOT NULL DEFAULT '',
  -- The one derivation of the status (operations 5.1).
  status TEXT GENERATED ALWAYS AS (
    CASE
      WHEN suspended = 1 THEN 'suspended'
      WHEN disconnected = 1 OR check_state = -1 OR sync_error <> '' THEN 'disconnected'
      ELSE 'connected'
    END
  ) VIRTUAL,
  created_at INTEGER NOT NULL
);
CREATE INDEX site_by_url ON site (url_key, id);
CREATE INDEX site_by_status ON site (status, url_key, id);
CREATE INDEX site_by_client ON site (client_id, url_key, id) WHERE client_id IS NOT NULL;

CREATE TABLE site_detail (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  admin_username TEXT NOT NULL DEFAULT '',
  notes TEXT NOT NULL DEFAULT '',
  ssl_verify INTEGER NOT NULL DEFAULT 1,
  unique_id TEXT NOT NULL DEFAULT '',
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
  -- Last success, last try (ms), and the code of its failure.
  last_sync INTEGER,
  last_attempt INTEGER,
  sync_error_code TEXT NOT NULL DEFAULT '',
  http_status INTEGER,
  response_time_ms INTEGER,
  checked_at INTEGER,
  -- Whole-site switches: hide all offers of a type (operations 5.6).
  ignore_core INTEGER NOT NULL DEFAULT 0,
  ignore_plugins INTEGER NOT NULL DEFAULT 0,
  ignore_themes INTEGER NOT NULL DEFAULT 0,
  abandoned_checked_at INTEGER,
  -- Newest entry of the child's change list that is stored: unix seconds with fraction.
  changes_after REAL NOT NULL DEFAULT 0,
  -- Digest of the last stored inventory: an unchanged site costs one small write.
  content_hash TEXT NOT NULL DEFAULT ''
);

CREATE INDEX site_detail_by_attempt ON site_detail (last_attempt);
CREATE INDEX site_detail_by_abandoned ON site_detail (abandoned_checked_at);

-- Sealed with AES-256-GCM by the vault; never read by a list.
CREATE TABLE site_secret (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  private_key TEXT NOT NULL,
  regverify TEXT,
  http_user TEXT,
  http_pass TEXT
);

CREATE TABLE site_tag (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tag (id) ON DELETE CASCADE,
  PRIMARY KEY (site_id, tag_id)
) WITHOUT ROWID;
CREATE INDEX site_tag_by_tag ON site_tag (tag_id, site_id);

-- Sites that a principal ('user:1', 'key:3') may neither see nor touch.
CREATE TABLE site_denial (
  principal TEXT NOT NULL,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  PRIMARY KEY (principal, site_id)
) WITHOUT ROWID;
CREATE INDEX site_denial_by_site ON site_denial (site_id);

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

-- Inventory ----------------------------------------------------------------------------------------------------------
-- kind: 0 plugin, 1 theme.
CREATE TABLE package (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  UNIQUE (kind, slug, name)
);
CREATE TABLE site_extension (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  kind INTEGER NOT NULL,
  package_id INTEGER NOT NULL REFERENCES package (id),
  position INTEGER NOT NULL,
  version TEXT NOT NULL,
  active INTEGER NOT NULL,
  -- Bits: 1 must-use, 2 the child plugin itself, 4 parent of the active child theme.
  flags INTEGER NOT NULL DEFAULT 0,
  update_version TEXT,
  PRIMARY KEY (site_id, kind, package_id)
) WITHOUT ROWID;
CREATE INDEX site_extension_by_package ON site_extension (package_id, site_id);

-- type: 0 core, 1 plugin, 2 theme, 3 translation. url_key repeats the site's, so that a page of the whole fleet is one index range.
CREATE TABLE site_update (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  current_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  ignored INTEGER NOT NULL DEFAULT 0,
  url_key TEXT NOT NULL,
  PRIMARY KEY (site_id, type, slug)
) WITHOUT ROWID;
-- The predicate column stands in the index, or SQLite would not count it as covering.
CREATE INDEX site_update_page ON site_update (url_key, site_id, type, position, ignored) WHERE ignored = 0;
CREATE INDEX site_update_page_by_type ON site_update (type, url_key, site_id, position, ignored) WHERE ignored = 0;
CREATE INDEX site_update_by_slug ON site_update (slug, type);

CREATE TABLE update_count (type INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO update_count VALUES (0, 0), (1, 0), (2, 0), (3, 0);
CREATE TRIGGER update_count_insert AFTER INSERT ON site_update WHEN new.ignored = 0 BEGIN
  UPDATE update_count SET n = n + 1 WHERE type = new.type;
END;
CREATE TRIGGER update_count_delete AFTER DELETE ON site_update WHEN old.ignored = 0 BEGIN
  UPDATE update_count SET n = n - 1 WHERE type = old.type;
END;
CREATE TRIGGER update_count_update AFTER UPDATE OF ignored ON site_update WHEN old.ignored <> new.ignored BEGIN
  UPDATE update_count SET n = n + CASE WHEN new.ignored = 0 THEN 1 ELSE -1 END WHERE type = new.type;
END;
CREATE TRIGGER site_url_moves AFTER UPDATE OF url_key ON site WHEN old.url_key <> new.url_key BEGIN
  UPDATE site_update SET url_key = new.url_key WHERE site_id = new.id;
  UPDATE site_abandoned SET url_key = new.url_key WHERE site_id = new.id;
END;

-- version '*' means every version (operations 5.6 'all_versions').
CREATE TABLE ignored_update (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (site_id, type, slug, version)
) WITHOUT ROWID;
CREATE TABLE ignored_everywhere (
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (type, slug, version)
) WITHOUT ROWID;

CREATE TABLE site_abandoned (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  kind INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  -- Unix seconds of the last release.
  last_updated INTEGER NOT NULL,
  url_key TEXT NOT NULL,
  PRIMARY KEY (site_id, kind, slug)
) WITHOUT ROWID;
CREATE INDEX site_abandoned_page ON site_abandoned (kind, url_key, slug, last_updated);

CREATE TABLE site_security (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  check_id TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (site_id, check_id)
) WITHOUT ROWID;

-- The certificate last seen on the site's own address; \`good\` = trusted chain, right name, in date.
CREATE TABLE site_certificate (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('valid', 'expiring', 'expired', 'invalid', 'unknown')),
  good INTEGER NOT NULL DEFAULT 0,
  issuer_o TEXT,
  issuer_cn TEXT,
  subject_cn TEXT,
  subject_alt_names TEXT NOT NULL DEFAULT '[]',
  serial TEXT,
  signature_algorithm TEXT,
  fingerprint TEXT,
  valid_from INTEGER,
  valid_to INTEGER,
  error TEXT,
  last_check INTEGER NOT NULL
);

CREATE TABLE site_change (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  child_id TEXT NOT NULL,
  context TEXT NOT NULL,
  action TEXT NOT NULL,
  item TEXT NOT NULL,
  user_login TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  -- Unix seconds with fraction.
  created REAL NOT NULL,
  duration REAL,
  UNIQUE (site_id, source, child_id)
);
CREATE INDEX site_change_newest ON site_change (site_id, created DESC, id DESC);

-- What the child sent of its recent content, as JSON text, for reading back only.
CREATE TABLE site_document (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (site_id, kind)
) WITHOUT ROWID;

-- Costs --------------------------------------------------------------------------------------------------------------
CREATE TABLE cost (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  url TEXT NOT NULL DEFAULT '',
  type TEXT NOT NULL CHECK (type IN ('subscription', 'lifetime')),
  product_type TEXT NOT NULL DEFAULT '',
  license_type TEXT NOT NULL CHECK (license_type IN ('single_site', 'multi_site')),
  cost_status TEXT NOT NULL CHECK (cost_status IN ('active', 'canceled', 'onhold', 'expired', 'pending_cancelation')),
  payment_method TEXT NOT NULL DEFAULT '',
  -- Decimal text, up to 8 places: money is never a float.
  price TEXT NOT NULL,
  renewal_type TEXT CHECK (renewal_type IN ('weekly', 'monthly', 'quarterly', 'yearly')),
  last_renewal TEXT,
  note TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE TABLE cost_target (
  cost_id INTEGER NOT NULL REFERENCES cost (id) ON DELETE CASCADE,
  site_id INTEGER REFERENCES site (id) ON DELETE CASCADE,
  tag_id INTEGER REFERENCES tag (id) ON DELETE CASCADE,
  client_id INTEGER REFERENCES client (id) ON DELETE CASCADE,
  CHECK ((site_id IS NOT NULL) + (tag_id IS NOT NULL) + (client_id IS NOT NULL) = 1)
);
CREATE UNIQUE INDEX cost_target_once ON cost_target (cost_id, ifnull(site_id, 0), ifnull(tag_id, 0), ifnull(client_id, 0));
CREATE INDEX cost_target_by_site ON cost_target (site_id) WHERE site_id IS NOT NULL;
CREATE INDEX cost_target_by_tag ON cost_target (tag_id) WHERE tag_id IS NOT NULL;
CREATE INDEX cost_target_by_client ON cost_target (client_id) WHERE client_id IS NOT NULL;

-- Work ---------------------------------------------------------------------------------------------------------------
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
  fence INTEGER NOT NULL DEFAULT 0
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
  PRIMARY KEY (job_id, position)
) WITHOUT ROWID;
CREATE INDEX job_site_waiting ON job_site (job_id, state, position);
CREATE INDEX job_site_by_site ON job_site (site_id, state);

-- One kind of exclusive right at a time: 'schedule', 'site:12'.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  fence INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE schedule_run (
  name TEXT PRIMARY KEY,
  last_started INTEGER,
  last_finished INTEGER,
  last_outcome TEXT NOT NULL DEFAULT '',
  next_run INTEGER
) WITHOUT ROWID;
`;
