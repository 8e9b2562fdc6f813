/** Changes that were sent to a site and of which is not known yet whether they took effect. */
export const openChanges = `
CREATE TABLE open_change (
  site_id INTEGER NOT NULL REFERENCES site (id) ON DELETE CASCADE,
  -- core, plugin, theme, translation
  context TEXT NOT NULL,
  -- updated, activated, deactivated, deleted
  action TEXT NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  old_version TEXT NOT NULL,
  new_version TEXT NOT NULL,
  -- Whose deed it is, JSON.
  origin TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (site_id, context, slug)
) WITHOUT ROWID;
-- job_item.done = 2: not known yet.
CREATE INDEX job_item_open ON job_item (site_id) WHERE done = 2;
`;
