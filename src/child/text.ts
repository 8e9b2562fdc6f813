/** Text from child sites is cleaned by the same rules wherever it is read, and quoted wherever it is part of a message. */

export { siteSays } from '../../schemas/site-text.js';
export { decodeEntities, exactText, plainText, richText } from '../../schemas/text.js';
