/** Whether the text of a site in `sync_error` is quoted. Earlier versions marked such messages with a leading U+0001. */
export const syncErrorQuoted = `
ALTER TABLE site_detail ADD COLUMN sync_error_quoted INTEGER NOT NULL DEFAULT 0;
UPDATE site_detail SET sync_error_quoted = 1 WHERE site_id IN (SELECT id FROM site WHERE substr(sync_error, 1, 1) = char(1));
UPDATE site SET sync_error = substr(sync_error, 2) WHERE substr(sync_error, 1, 1) = char(1);
`;
