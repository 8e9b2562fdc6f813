/**
 * Whether at most one site calls the package `p` by its name, and others call it otherwise, as SQL: one that lies must not
 * decide what a name means for all.
 */
export const CALLED_ALONE = `((SELECT count(*) FROM (SELECT 1 FROM site_extension e WHERE e.package_id = p.id LIMIT 2)) < 2
  AND EXISTS (SELECT 1 FROM package q JOIN site_extension e ON e.package_id = q.id
    WHERE q.kind IN (0, 1) AND q.slug = p.slug AND q.name <> p.name))`;
