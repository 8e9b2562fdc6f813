/** Text from child sites is cleaned by the same rules wherever it is read. */
export { decodeEntities, exactText, plainText, richText } from '../../schemas/text.js';
