/** How many interim answers (HTTP 100 to 199) of a site are read before its real one: genuine sites send one or two. */
export const MOST_INTERIM = 20;
