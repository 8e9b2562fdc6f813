/** Who has seen an incident, and a list of the incidents of all sites by their beginning. */
export const incidentAcknowledged = `
ALTER TABLE incident ADD COLUMN acknowledged_at INTEGER;
ALTER TABLE incident ADD COLUMN acknowledged_by TEXT NOT NULL DEFAULT '';
ALTER TABLE incident ADD COLUMN acknowledged_note TEXT NOT NULL DEFAULT '';
CREATE INDEX incident_newest ON incident (started_at);
`;
