/** @param folder where the page is built to; it is emptied
 * @param quality of the compression */
export function buildPage(folder: string, quality?: number): Promise<void>;
