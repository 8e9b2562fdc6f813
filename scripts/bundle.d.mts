export function programEntries(): Record<string, string>;
export function bundleProgram(
  entries: Record<string, string>,
  outdir: string,
): Promise<{ files: { path: string; contents: Uint8Array }[]; inputs: string[] }>;
