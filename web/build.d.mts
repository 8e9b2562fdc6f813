/** @param folder where the page is built to; it is emptied */
export function buildPage(folder: string): Promise<void>;
