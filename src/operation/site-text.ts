/** Texts of outputs as a model may read them, by the same rules as where messages quote a site. */

export { unmarked, unmarkedSlug } from '../../schemas/site-text.js';
