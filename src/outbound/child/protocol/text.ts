/**
 * Cleans text from child sites by the same rules wherever it is read, and quotes it wherever it is part of a message.
 */

export { siteSays } from '../../../../schemas/site-text.js';
export { decodeEntities, exactText, plainText, richText } from '../../../../schemas/text.js';
