/** Where a version is quarantined, as a condition. */

/** The entry with this alias holds its version back on a site, given as SQL. */
export function quarantinedOn(alias: string, site: string): string {
  return `${alias}.lifted_at IS NULL AND (${alias}.scope = 'fleet' OR EXISTS (SELECT 1 FROM quarantine_site h
    WHERE h.type = ${alias}.type AND h.slug = ${alias}.slug AND h.version = ${alias}.version AND h.site_id = ${site}))`;
}
