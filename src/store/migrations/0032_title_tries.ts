/** How often a site was asked for its title, which it is named by; NULL = it has its name. */
export const titleTries = `
ALTER TABLE site_detail ADD COLUMN title_tries INTEGER;
`;
