export function programEntries(): Record<string, string>;
export function writeProgram(folder: string): Promise<unknown>;
