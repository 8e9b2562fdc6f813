/** Records of fleet files before anything is known about them. */

export type RawRecord = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** Text of a file in a sentence of ours: one line, not endless. */
export function sentence(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200);
}
