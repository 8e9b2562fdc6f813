/**
 * What a search over the fleet reads. The level of an offer is how far it reaches: 2 the first number of the version
 * changes, 1 the second, 0 a later one; NULL when a version is not known.
 */
const number = (column: string, part: 'first' | 'second') => {
  const version = `ltrim(${column}, 'vV')`;
  return part === 'first'
    ? `CAST(${version} AS INTEGER)`
    : `CAST(substr(${version}, instr(${version} || '.', '.') + 1) AS INTEGER)`;
};

const level = `CASE
    WHEN current_version = '' OR new_version = '' THEN NULL
    WHEN ${number('current_version', 'first')} <> ${number('new_version', 'first')} THEN 2
    WHEN ${number('current_version', 'second')} <> ${number('new_version', 'second')} THEN 1
    ELSE 0
  END`;
const ofNew = 'site_id = new.site_id AND type = new.type AND slug = new.slug';

export const search = `
-- Kept by triggers, not generated: an index on a generated column does not cover a query.
ALTER TABLE site_update ADD COLUMN level INTEGER;
UPDATE site_update SET level = ${level};
CREATE TRIGGER site_update_level_insert AFTER INSERT ON site_update BEGIN
  UPDATE site_update SET level = ${level} WHERE ${ofNew};
END;
CREATE TRIGGER site_update_level_update AFTER UPDATE OF current_version, new_version ON site_update
  WHEN old.current_version <> new.current_version OR old.new_version <> new.new_version BEGIN
  UPDATE site_update SET level = ${level} WHERE ${ofNew};
END;
CREATE INDEX site_update_by_level ON site_update (type, slug, level, site_id, ignored) WHERE ignored = 0;

-- Which versions of a package the fleet has, and where, without reading the rows.
DROP INDEX site_extension_by_package;
CREATE INDEX site_extension_by_version ON site_extension (package_id, version, active, site_id);

CREATE INDEX site_detail_by_wp ON site_detail (wp_version);
CREATE INDEX site_detail_by_php ON site_detail (php_version);
CREATE INDEX site_detail_by_child ON site_detail (child_version);
CREATE INDEX site_detail_by_sync ON site_detail (last_sync);
CREATE INDEX site_certificate_by_end ON site_certificate (valid_to);
CREATE INDEX domain_by_end ON domain (expiry_date);
`;
