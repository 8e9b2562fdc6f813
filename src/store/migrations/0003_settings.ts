/** Tools jobs: work on all sites that an operator started by hand. A row per job, a row per site; counters are derived. */
export const settings = `
CREATE TABLE tool_job (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('destroy', 'renew', 'disconnect')),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  total INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  -- Whoever works on it says so until then; afterwards another process may take it.
  owner TEXT,
  lease_until INTEGER
) WITHOUT ROWID;
-- One of a kind at a time.
CREATE UNIQUE INDEX tool_job_open ON tool_job (kind) WHERE completed_at IS NULL;
CREATE INDEX tool_job_ended ON tool_job (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE tool_job_site (
  job_id TEXT NOT NULL REFERENCES tool_job (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  site_id INTEGER NOT NULL,
  -- 0 waiting, 1 succeeded, 2 failed.
  state INTEGER NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (job_id, position)
) WITHOUT ROWID;
CREATE INDEX tool_job_site_state ON tool_job_site (job_id, state, position);

-- Asked before a product type or payment method is deleted.
CREATE INDEX cost_by_product_type ON cost (product_type) WHERE product_type <> '';
CREATE INDEX cost_by_payment_method ON cost (payment_method) WHERE payment_method <> '';
`;
