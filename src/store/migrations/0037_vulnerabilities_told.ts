/** Which known vulnerabilities of which packages people were told of: an alert is made of the others. */
export const vulnerabilitiesTold = `
-- package_id 0 = WordPress itself.
CREATE TABLE vulnerability_told (
  vulnerability_id INTEGER NOT NULL REFERENCES vulnerability (id) ON DELETE CASCADE,
  package_id INTEGER NOT NULL,
  PRIMARY KEY (vulnerability_id, package_id)
) WITHOUT ROWID;
-- What stands in the lists already is no news.
INSERT INTO vulnerability_told SELECT DISTINCT vulnerability_id, package_id FROM vulnerable_version;
`;
