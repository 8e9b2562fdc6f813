/** Names database files by URL. */

/** The URL of a database file. */
export function fileUrl(path: string): string {
  return `file:${path.replace(/[%?#]/g, (char) => encodeURIComponent(char))}`;
}
