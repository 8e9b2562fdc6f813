/** What is used of pngjs, which has no types of its own. */
declare module 'pngjs' {
  /** A CommonJS module: only its default is there in the bundles, too. */
  const pngjs: { PNG: { sync: { read(file: Buffer): { width: number; height: number; data: Buffer } } } };
  export default pngjs;
}
