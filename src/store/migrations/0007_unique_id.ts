/** The unique id of a child is a secret that a person typed: it moves to the sealed ones. */
export const uniqueId = `
ALTER TABLE site_secret ADD COLUMN unique_id TEXT;
-- The old place is emptied when a key is at hand, see site-secrets.ts; this finds what is left there.
CREATE INDEX site_detail_unsealed ON site_detail (site_id) WHERE unique_id <> '';
`;
