/** What is known of a site: what became of the object of a change, and when abandoned items were looked up. */
export const siteFindings = `
ALTER TABLE site_change ADD COLUMN detail TEXT NOT NULL DEFAULT '';
ALTER TABLE site_change ADD COLUMN summary TEXT NOT NULL DEFAULT '';
ALTER TABLE site_change ADD COLUMN slug TEXT NOT NULL DEFAULT '';
-- Versions of an extension or of WordPress, roles of a user.
ALTER TABLE site_change ADD COLUMN old_value TEXT NOT NULL DEFAULT '';
ALTER TABLE site_change ADD COLUMN new_value TEXT NOT NULL DEFAULT '';
-- Somebody looked, and changed nothing.
DELETE FROM site_change WHERE source = 'logs' AND action IN ('viewed', 'opened');

-- The last look that succeeded; abandoned_checked_at is the last try. Whether a past try succeeded shows only where it found something.
ALTER TABLE site_detail ADD COLUMN abandoned_known_at INTEGER;
UPDATE site_detail SET abandoned_known_at = abandoned_checked_at
  WHERE EXISTS (SELECT 1 FROM site_abandoned a WHERE a.site_id = site_detail.site_id);
UPDATE site_detail SET abandoned_checked_at = NULL WHERE abandoned_known_at IS NULL;
-- An alert that nobody was to get is settled, not delivered: only the mail that told of it makes it so.
ALTER TABLE alert ADD COLUMN mail_key TEXT;
ALTER TABLE alert ADD COLUMN mailed_at INTEGER;
CREATE INDEX alert_by_mail ON alert (mail_key) WHERE mail_key IS NOT NULL;
UPDATE alert SET mail_key = 'alert:' || key, mailed_at = (SELECT sent_at FROM mail WHERE event_key = 'alert:' || alert.key);
CREATE INDEX site_detail_abandoned_unknown ON site_detail (site_id) WHERE abandoned_known_at IS NULL;
`;
