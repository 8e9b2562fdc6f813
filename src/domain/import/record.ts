/** Records of fleet files, before validation. */

export type RawRecord = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** Text of a file for use in our messages: one line, bounded. */
export function sentence(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200);
}
