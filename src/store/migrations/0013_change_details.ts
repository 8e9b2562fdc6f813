/** The change log of a site tells what became of the object: before and after, roles, versions. */
export const changeDetails = `
ALTER TABLE site_change ADD COLUMN detail TEXT NOT NULL DEFAULT '';
ALTER TABLE site_change ADD COLUMN summary TEXT NOT NULL DEFAULT '';
ALTER TABLE site_change ADD COLUMN slug TEXT NOT NULL DEFAULT '';
-- Versions of an extension or of WordPress, roles of a user.
ALTER TABLE site_change ADD COLUMN old_value TEXT NOT NULL DEFAULT '';
ALTER TABLE site_change ADD COLUMN new_value TEXT NOT NULL DEFAULT '';
-- Somebody looked, and changed nothing.
DELETE FROM site_change WHERE source = 'logs' AND action IN ('viewed', 'opened');
`;
