/**
 * What is known of a site's state, each fact apart: what the last visit of its front page found, since when its status holds,
 * whether it is suspended along with its client, and which of its two addresses answers the child's calls.
 */
export const siteState = `
-- 1 up, 0 down, NULL never visited or undecided. It was \`site.check_state\` and part of the status.
ALTER TABLE site_detail ADD COLUMN reachable INTEGER;
UPDATE site_detail SET reachable = (SELECT CASE s.check_state WHEN 1 THEN 1 WHEN -1 THEN 0 END FROM site s WHERE s.id = site_id);

-- The one derivation of the status (operations 5.1), made again without the visits. \`disconnected\` is 2 for a site that was
-- disconnected while suspended: the later of the two moves shows.
DROP INDEX site_by_status;
DROP INDEX site_by_status_name;
DROP TRIGGER site_count_insert;
DROP TRIGGER site_count_delete;
DROP TRIGGER site_count_update;
ALTER TABLE site DROP COLUMN status;
ALTER TABLE site DROP COLUMN check_state;
ALTER TABLE site ADD COLUMN status TEXT GENERATED ALWAYS AS (
  CASE
    WHEN disconnected = 2 THEN 'disconnected'
    WHEN suspended = 1 THEN 'suspended'
    WHEN disconnected = 1 OR sync_error <> '' THEN 'disconnected'
    ELSE 'connected'
  END
) VIRTUAL;
CREATE INDEX site_by_status ON site (status, url_key, id);
CREATE INDEX site_by_status_name ON site (status, name COLLATE NOCASE, url_key, id);
UPDATE site_count SET n = (SELECT count(*) FROM site s WHERE s.status = site_count.status);
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
CREATE TRIGGER site_suspension_shows AFTER UPDATE OF suspended ON site WHEN new.disconnected = 2 BEGIN
  UPDATE site SET disconnected = 1 WHERE id = new.id;
END;

-- Which address answered the last sync: 'ajax', 'root', or '' while unknown.
ALTER TABLE site_detail ADD COLUMN door TEXT NOT NULL DEFAULT '';

-- When the status became what it is (ms); NULL unknown. 0 = it has just changed: the batch that changed it writes the time.
ALTER TABLE site_detail ADD COLUMN status_since INTEGER;
CREATE INDEX site_detail_status_changed ON site_detail (site_id) WHERE status_since = 0;
CREATE TRIGGER site_status_since AFTER UPDATE ON site WHEN old.status <> new.status BEGIN
  UPDATE site_detail SET status_since = 0 WHERE site_id = new.id;
END;

-- The client whose suspension suspended the site; NULL when it was suspended by itself, or is not suspended.
ALTER TABLE site ADD COLUMN suspended_with INTEGER;
UPDATE site SET suspended_with = client_id
  WHERE suspended = 1 AND client_id IN (SELECT id FROM client WHERE suspended = 1);
CREATE TRIGGER site_added_to_client AFTER INSERT ON site
  WHEN new.suspended = 0 AND EXISTS (SELECT 1 FROM client WHERE id = new.client_id AND suspended = 1) BEGIN
  UPDATE site SET suspended = 1, suspended_with = new.client_id WHERE id = new.id;
END;
CREATE TRIGGER site_changes_client AFTER UPDATE OF client_id ON site WHEN old.client_id IS NOT new.client_id BEGIN
  UPDATE site SET suspended = 0, suspended_with = NULL WHERE id = new.id AND suspended_with IS NOT NULL;
  UPDATE site SET suspended = 1, suspended_with = new.client_id
    WHERE id = new.id AND suspended = 0 AND EXISTS (SELECT 1 FROM client WHERE id = new.client_id AND suspended = 1);
END;
CREATE TRIGGER site_unsuspended AFTER UPDATE OF suspended ON site
  WHEN new.suspended = 0 AND new.suspended_with IS NOT NULL BEGIN
  UPDATE site SET suspended_with = NULL WHERE id = new.id;
END;
`;
