/**
 * The icon of this server, for clients that show one. Tools have none of their own: a hundred copies would be most of the
 * list of tools.
 */

/** As `web/icon.svg`. */
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b6b5e"/><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"><path d="M7 11.5h18M7 16.500h12M7 21.500h7"/><path d="m19 21.500 2.400 2.400 4.600-5"/></g></svg>';

/** Part of the data and not an address: clients load no images from servers that they reach by stdio. */
export const ICONS = [
  {
    src: `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`,
    mimeType: 'image/svg+xml',
    sizes: ['any'],
  },
];
