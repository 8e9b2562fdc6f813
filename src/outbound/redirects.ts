/** How many redirects are followed to a page: browsers allow 20, genuine sites need two or three. */
export const MOST_REDIRECTS = 8;
