/** What jobs did item by item, and which jobs finish the sites of a call whose time was up. */
export const jobItems = `
-- 1 = continues a call that ran out of time; the same call asked again finds it.
ALTER TABLE job ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
CREATE TABLE job_item (
  job_id TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  -- Of the site within the job.
  position INTEGER NOT NULL,
  number INTEGER NOT NULL,
  site_id INTEGER NOT NULL,
  -- 1 = done, 0 = failed.
  done INTEGER NOT NULL,
  -- JSON object; its members depend on the kind of job.
  facts TEXT NOT NULL,
  PRIMARY KEY (job_id, position, number)
) WITHOUT ROWID;
`;
