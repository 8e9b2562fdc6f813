/** A site on trial beside another dashboard: it is read, never changed, until the trial is ended. */
export const trial = `
ALTER TABLE site_detail ADD COLUMN on_trial INTEGER NOT NULL DEFAULT 0;
CREATE INDEX site_detail_on_trial ON site_detail (site_id) WHERE on_trial = 1;
`;
