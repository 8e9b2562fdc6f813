/** What is used of pngjs, which has no types of its own. */
declare module 'pngjs' {
  export const PNG: { sync: { read(file: Buffer): { width: number; height: number; data: Buffer } } };
}
