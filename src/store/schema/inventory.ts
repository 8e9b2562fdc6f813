/** Tables: what is installed on the sites, and which updates are available there. */

/** The first or second number of a version, as SQL. */
function number(column: string, part: 'first' | 'second'): string {
  const version = `ltrim(${column}, 'vV')`;
  return part === 'first'
    ? `CAST(${version} AS INTEGER)`
    : `CAST(substr(${version}, instr(${version} || '.', '.') + 1) AS INTEGER)`;
}

const level = `CASE
    WHEN current_version = '' OR new_version = '' THEN NULL
    WHEN ${number('current_version', 'first')} <> ${number('new_version', 'first')} THEN 2
    WHEN ${number('current_version', 'second')} <> ${number('new_version', 'second')} THEN 1
    ELSE 0
  END`;
const ofNew = 'site_id = new.site_id AND type = new.type AND slug = new.slug';
const newMark = "UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';";

/** The name under which a feed of vulnerabilities knows a package: the folder of a plugin, the file of one without. */
const feedSlug = `lower(CASE
  WHEN slug = 'hello.php' THEN 'hello-dolly'
  WHEN instr(slug, '/') > 0 THEN substr(slug, 1, instr(slug, '/') - 1)
  WHEN substr(slug, -4) = '.php' THEN substr(slug, 1, length(slug) - 4)
  ELSE slug
END)`;

export const inventory = `
-- Plugins and themes. kind: 0 plugin, 1 theme ------------------------------------------------------------------------
CREATE TABLE package (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  -- As the first site said, and never changed: no site's words replace those of another.
  description TEXT NOT NULL DEFAULT '',
  feed_slug TEXT GENERATED ALWAYS AS (${feedSlug}) VIRTUAL,
  UNIQUE (kind, slug, name)
);
CREATE INDEX package_by_feed_slug ON package (kind, feed_slug);

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
  -- What this site says of the package; NULL = the same as the first site that had it.
  description TEXT,
  PRIMARY KEY (site_id, kind, package_id)
) WITHOUT ROWID;
-- Which versions of a package the fleet has, and where, without reading the rows.
CREATE INDEX site_extension_by_version ON site_extension (package_id, version, active, site_id);

-- Plugins and themes of a site as the JSON text that lists of sites answer: a page of a hundred sites need not put thousands
-- of rows together. Triggers drop a text with whatever it was made of; the next sync stores a new one, and until then
-- readers make it themselves.
CREATE TABLE site_record_text (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  plugins TEXT NOT NULL,
  themes TEXT NOT NULL,
  active_theme TEXT
);
CREATE TRIGGER record_text_insert AFTER INSERT ON site_extension BEGIN
  DELETE FROM site_record_text WHERE site_id = new.site_id;
END;
CREATE TRIGGER record_text_update AFTER UPDATE ON site_extension BEGIN
  DELETE FROM site_record_text WHERE site_id = new.site_id;
END;
CREATE TRIGGER record_text_delete AFTER DELETE ON site_extension BEGIN
  DELETE FROM site_record_text WHERE site_id = old.site_id;
END;
CREATE TRIGGER record_text_package AFTER UPDATE OF slug, name, description ON package BEGIN
  DELETE FROM site_record_text WHERE site_id IN (SELECT site_id FROM site_extension WHERE package_id = new.id);
END;

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

-- Security findings of the child.
CREATE TABLE site_security (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  check_id TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (site_id, check_id)
) WITHOUT ROWID;

-- What the child sent of its recent content, as JSON text, for reading back only.
CREATE TABLE site_document (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (site_id, kind)
) WITHOUT ROWID;

-- Available updates. type: 0 core, 1 plugin, 2 theme, 3 translation --------------------------------------------------
CREATE TABLE site_update (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  type INTEGER NOT NULL,
  slug TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  current_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  -- How far it reaches: 2 the first number of the version changes, 1 the second, 0 a later one; NULL when a version is
  -- not known. Kept by triggers, not generated: an index on a generated column does not cover a query.
  level INTEGER,
  -- 0 = on offer, 1 = ignored, 2 = its version is quarantined on this site.
  ignored INTEGER NOT NULL DEFAULT 0,
  -- What it needs that the site does not have, as 'PHP 8.4'; '' = nothing is known to be missing.
  needs TEXT NOT NULL DEFAULT '',
  -- Repeats the site's, so that a page of the whole fleet is one range of an index.
  url_key TEXT NOT NULL,
  PRIMARY KEY (site_id, type, slug)
) WITHOUT ROWID;
-- The column of the condition is part of the index, or SQLite would not count it as covering.
CREATE INDEX site_update_page ON site_update (url_key, site_id, type, position, ignored) WHERE ignored = 0;
CREATE INDEX site_update_page_by_type ON site_update (type, url_key, site_id, position, ignored) WHERE ignored = 0;
CREATE INDEX site_update_quarantined ON site_update (site_id) WHERE ignored = 2;
CREATE INDEX site_update_ignored ON site_update (site_id) WHERE ignored = 1;
CREATE INDEX site_update_by_slug ON site_update (slug, type);
CREATE INDEX site_update_by_level ON site_update (type, slug, level, site_id, ignored, needs) WHERE ignored = 0;
CREATE INDEX site_update_needy ON site_update (site_id) WHERE needs <> '';

CREATE TRIGGER site_update_level_insert AFTER INSERT ON site_update BEGIN
  UPDATE site_update SET level = ${level} WHERE ${ofNew};
END;
CREATE TRIGGER site_update_level_update AFTER UPDATE OF current_version, new_version ON site_update
  WHEN old.current_version <> new.current_version OR old.new_version <> new.new_version BEGIN
  UPDATE site_update SET level = ${level} WHERE ${ofNew};
END;
CREATE TRIGGER site_url_moves AFTER UPDATE OF url_key ON site WHEN old.url_key <> new.url_key BEGIN
  UPDATE site_update SET url_key = new.url_key WHERE site_id = new.id;
  UPDATE site_abandoned SET url_key = new.url_key WHERE site_id = new.id;
END;

-- Ignored updates. version '*' = every version.
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
  -- Milliseconds; NULL = until it is undone.
  until INTEGER,
  PRIMARY KEY (type, slug, version)
) WITHOUT ROWID;

-- How many updates are available that are not ignored, and sites with at least one: of each type, and of any ------------
CREATE TABLE update_count (type INTEGER PRIMARY KEY, n INTEGER NOT NULL, sites INTEGER NOT NULL);
INSERT INTO update_count VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0);
CREATE TRIGGER update_count_insert AFTER INSERT ON site_update WHEN new.ignored = 0 BEGIN
  UPDATE update_count SET n = n + 1, sites = sites + NOT EXISTS (
    SELECT 1 FROM site_update WHERE site_id = new.site_id AND type = new.type AND ignored = 0 AND slug <> new.slug
  ) WHERE type = new.type;
END;
CREATE TRIGGER update_count_delete AFTER DELETE ON site_update WHEN old.ignored = 0 BEGIN
  UPDATE update_count SET n = n - 1, sites = sites - NOT EXISTS (
    SELECT 1 FROM site_update WHERE site_id = old.site_id AND type = old.type AND ignored = 0
  ) WHERE type = old.type;
END;
CREATE TRIGGER update_count_update AFTER UPDATE OF ignored ON site_update WHEN (old.ignored = 0) <> (new.ignored = 0) BEGIN
  UPDATE update_count SET n = n + CASE WHEN new.ignored = 0 THEN 1 ELSE -1 END,
    sites = sites + CASE WHEN new.ignored = 0 THEN 1 ELSE -1 END * NOT EXISTS (
      SELECT 1 FROM site_update WHERE site_id = new.site_id AND type = new.type AND ignored = 0 AND slug <> new.slug
    ) WHERE type = new.type;
END;

CREATE TABLE offering_site_count (id INTEGER PRIMARY KEY CHECK (id = 1), n INTEGER NOT NULL);
INSERT INTO offering_site_count VALUES (1, 0);
CREATE TRIGGER offering_site_insert AFTER INSERT ON site_update WHEN new.ignored = 0 AND NOT EXISTS (
  SELECT 1 FROM site_update WHERE site_id = new.site_id AND ignored = 0 AND (type <> new.type OR slug <> new.slug)
) BEGIN
  UPDATE offering_site_count SET n = n + 1;
END;
CREATE TRIGGER offering_site_delete AFTER DELETE ON site_update WHEN old.ignored = 0 AND NOT EXISTS (
  SELECT 1 FROM site_update WHERE site_id = old.site_id AND ignored = 0
) BEGIN
  UPDATE offering_site_count SET n = n - 1;
END;
CREATE TRIGGER offering_site_update AFTER UPDATE OF ignored ON site_update WHEN (old.ignored = 0) <> (new.ignored = 0) AND NOT EXISTS (
  SELECT 1 FROM site_update WHERE site_id = new.site_id AND ignored = 0 AND (type <> new.type OR slug <> new.slug)
) BEGIN
  UPDATE offering_site_count SET n = n + CASE WHEN new.ignored = 0 THEN 1 ELSE -1 END;
END;

-- A mark that changes with everything that the list of updates by site shows, or can be narrowed by: its ETag. Random,
-- no number: a database that was restored would count up to the same numbers again.
CREATE TABLE revision (name TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO revision VALUES ('updates', hex(randomblob(8)));
CREATE TRIGGER updates_revision_insert AFTER INSERT ON site_update BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_delete AFTER DELETE ON site_update BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_update AFTER UPDATE ON site_update BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_status AFTER UPDATE ON site WHEN old.status <> new.status BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_installed AFTER INSERT ON site_extension WHEN new.active <> 0 BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_removed AFTER DELETE ON site_extension WHEN old.active <> 0 BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_active AFTER UPDATE OF active ON site_extension WHEN old.active <> new.active BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_client AFTER UPDATE OF client_id ON site WHEN old.client_id IS NOT new.client_id BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_tagged AFTER INSERT ON site_tag BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_untagged AFTER DELETE ON site_tag BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_tag AFTER DELETE ON tag BEGIN ${newMark} END;
CREATE TRIGGER updates_revision_no_client AFTER DELETE ON client BEGIN ${newMark} END;
`;
