/** What the REST interface keeps beside the first schema: answers of repeatable calls, and settings of single sites. */
export const rest = `
-- One row per Idempotency-Key of one principal. The body is sealed: an answer may hold a token.
CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  -- Process that runs the call, to tell a running one from one that died.
  owner TEXT NOT NULL,
  -- NULL while the call runs.
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (principal, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- 2 = as the global setting says, where a site may follow it.
ALTER TABLE site_detail ADD COLUMN ssl_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_detail ADD COLUMN force_use_ipv4 INTEGER NOT NULL DEFAULT 2;
ALTER TABLE site_detail ADD COLUMN automatic_update INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_detail ADD COLUMN backup_before_upgrade INTEGER NOT NULL DEFAULT 2;
ALTER TABLE site_detail ADD COLUMN disable_health_checking INTEGER NOT NULL DEFAULT 2;
-- Lowest score that counts as good; 0 = as the global setting says.
ALTER TABLE site_detail ADD COLUMN health_threshold INTEGER NOT NULL DEFAULT 0;
-- Addresses, comma-separated; '' = as the global setting says.
ALTER TABLE site_detail ADD COLUMN monitoring_emails TEXT NOT NULL DEFAULT '';
ALTER TABLE site_detail ADD COLUMN is_staging INTEGER NOT NULL DEFAULT 0;

-- Lists in name order, the default of REST site lists.
CREATE INDEX site_by_name ON site (name COLLATE NOCASE, url_key, id);
CREATE INDEX site_by_status_name ON site (status, name COLLATE NOCASE, url_key, id);
`;
