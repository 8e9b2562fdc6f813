/**
 * Tables: what a feed says about known vulnerabilities, and which versions of the fleet it concerns. Each version of a package is
 * compared once, however many sites have it; triggers note the versions that are new to the fleet.
 */

/** A version of a package that the feed knows, and that no other site has: if one has, it was compared there, or waits for it. */
const newToFleet = `EXISTS (SELECT 1 FROM package p JOIN vulnerable_software v ON v.kind = p.kind AND v.slug = p.feed_slug WHERE p.id = new.package_id)
  AND NOT EXISTS (SELECT 1 FROM site_extension e WHERE e.package_id = new.package_id AND e.version = new.version AND e.site_id <> new.site_id)`;
const coreNewToFleet = `new.wp_version <> '' AND EXISTS (SELECT 1 FROM vulnerable_software WHERE kind = 2)
  AND NOT EXISTS (SELECT 1 FROM site_detail d WHERE d.wp_version = new.wp_version AND d.site_id <> new.site_id)`;

export const vulnerabilities = `
-- One row, once a feed was read.
CREATE TABLE vulnerability_feed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- Digest of where it comes from: what is known of one feed says nothing of another.
  source TEXT NOT NULL,
  -- The last try; the last try that succeeded, also when nothing was new; when the stored copy was read. Milliseconds.
  tried_at INTEGER NOT NULL,
  checked_at INTEGER,
  read_at INTEGER,
  -- Not before this instant is it asked again.
  next_at INTEGER NOT NULL,
  -- Why the last try failed; '' when it did not.
  failure TEXT NOT NULL DEFAULT '',
  etag TEXT,
  last_modified TEXT,
  entries INTEGER NOT NULL DEFAULT 0,
  -- Entries of the last copy that could not be read.
  unreadable INTEGER NOT NULL DEFAULT 0
);

-- Copyright and licence texts, each once; JSON.
CREATE TABLE vulnerability_notice (id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);

CREATE TABLE vulnerability (
  id INTEGER PRIMARY KEY,
  -- The name of the entry in the feed, and a digest of what is stored of it.
  uid TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL,
  title TEXT NOT NULL,
  -- 0 none, 1 low, 2 medium, 3 high, 4 critical; NULL = not rated.
  severity INTEGER,
  score REAL,
  cve TEXT,
  reference TEXT,
  -- Milliseconds.
  published INTEGER,
  notice_id INTEGER REFERENCES vulnerability_notice (id)
);
CREATE INDEX vulnerability_by_notice ON vulnerability (notice_id);

-- kind: 0 plugin, 1 theme, 2 WordPress itself. ranges: [[from, inclusive, to, inclusive], …] with null for no bound; fixes: versions.
CREATE TABLE vulnerable_software (
  kind INTEGER NOT NULL,
  slug TEXT NOT NULL,
  vulnerability_id INTEGER NOT NULL REFERENCES vulnerability (id) ON DELETE CASCADE,
  ranges TEXT NOT NULL,
  fixes TEXT NOT NULL,
  PRIMARY KEY (kind, slug, vulnerability_id)
) WITHOUT ROWID;
CREATE INDEX vulnerable_software_by_vulnerability ON vulnerable_software (vulnerability_id);

-- Entries that are new or changed while a feed is read: they count when it was read to its end.
CREATE TABLE vulnerability_staged (
  uid TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  notice_id INTEGER REFERENCES vulnerability_notice (id)
);

-- Versions of the fleet that are concerned. package_id 0 = WordPress itself.
CREATE TABLE vulnerable_version (
  package_id INTEGER NOT NULL,
  version TEXT NOT NULL,
  vulnerability_id INTEGER NOT NULL REFERENCES vulnerability (id) ON DELETE CASCADE,
  fixed_in TEXT,
  PRIMARY KEY (package_id, version, vulnerability_id)
) WITHOUT ROWID;
CREATE INDEX vulnerable_version_by_vulnerability ON vulnerable_version (vulnerability_id);

-- Versions that wait to be compared. The round grows when one is noted again: a result of what was known before is dropped.
CREATE TABLE unclassified_version (
  package_id INTEGER NOT NULL,
  version TEXT NOT NULL,
  round INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (package_id, version)
) WITHOUT ROWID;

-- What people were told of: an alert is made of the others. package_id 0 = WordPress itself.
CREATE TABLE vulnerability_told (
  vulnerability_id INTEGER NOT NULL REFERENCES vulnerability (id) ON DELETE CASCADE,
  package_id INTEGER NOT NULL,
  PRIMARY KEY (vulnerability_id, package_id)
) WITHOUT ROWID;

CREATE TRIGGER unclassified_version_insert AFTER INSERT ON site_extension WHEN ${newToFleet} BEGIN
  INSERT INTO unclassified_version (package_id, version) VALUES (new.package_id, new.version) ON CONFLICT DO UPDATE SET round = round + 1;
END;
CREATE TRIGGER unclassified_version_update AFTER UPDATE OF version ON site_extension
  WHEN old.version <> new.version AND ${newToFleet} BEGIN
  INSERT INTO unclassified_version (package_id, version) VALUES (new.package_id, new.version) ON CONFLICT DO UPDATE SET round = round + 1;
END;
CREATE TRIGGER unclassified_core_insert AFTER INSERT ON site_detail WHEN ${coreNewToFleet} BEGIN
  INSERT INTO unclassified_version (package_id, version) VALUES (0, new.wp_version) ON CONFLICT DO UPDATE SET round = round + 1;
END;
CREATE TRIGGER unclassified_core_update AFTER UPDATE OF wp_version ON site_detail
  WHEN old.wp_version <> new.wp_version AND ${coreNewToFleet} BEGIN
  INSERT INTO unclassified_version (package_id, version) VALUES (0, new.wp_version) ON CONFLICT DO UPDATE SET round = round + 1;
END;
`;
