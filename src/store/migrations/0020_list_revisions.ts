/**
 * What the list of updates by site is known by: a mark that changes with everything the list shows, and how many sites have
 * updates on offer. Kept by triggers, so that no code path can forget them.
 */
export const listRevisions = `
-- A random mark, no number: a database that was restored counts up to the same numbers again.
CREATE TABLE revision (name TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO revision VALUES ('updates', hex(randomblob(8)));

CREATE TRIGGER updates_revision_insert AFTER INSERT ON site_update BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_delete AFTER DELETE ON site_update BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_update AFTER UPDATE ON site_update BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
-- An offer shows the status of its site, and whether the plugin or theme is active there.
CREATE TRIGGER updates_revision_status AFTER UPDATE ON site WHEN old.status <> new.status BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_installed AFTER INSERT ON site_extension WHEN new.active <> 0 BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_removed AFTER DELETE ON site_extension WHEN old.active <> 0 BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_active AFTER UPDATE OF active ON site_extension WHEN old.active <> new.active BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;

-- The list can be asked for by tags and clients.
CREATE TRIGGER updates_revision_client AFTER UPDATE OF client_id ON site WHEN old.client_id IS NOT new.client_id BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_tagged AFTER INSERT ON site_tag BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_untagged AFTER DELETE ON site_tag BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_tag AFTER DELETE ON tag BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;
CREATE TRIGGER updates_revision_no_client AFTER DELETE ON client BEGIN
  UPDATE revision SET mark = hex(randomblob(8)) WHERE name = 'updates';
END;

-- Sites with at least one offer that is not ignored.
CREATE TABLE offering_site_count (id INTEGER PRIMARY KEY CHECK (id = 1), n INTEGER NOT NULL);
INSERT INTO offering_site_count SELECT 1, count(DISTINCT site_id) FROM site_update WHERE ignored = 0;
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
CREATE TRIGGER offering_site_update AFTER UPDATE OF ignored ON site_update WHEN old.ignored <> new.ignored AND NOT EXISTS (
  SELECT 1 FROM site_update WHERE site_id = new.site_id AND ignored = 0 AND (type <> new.type OR slug <> new.slug)
) BEGIN
  UPDATE offering_site_count SET n = n + CASE WHEN new.ignored = 0 THEN 1 ELSE -1 END;
END;
`;
