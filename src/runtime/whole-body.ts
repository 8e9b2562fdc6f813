/** Reads the bodies of HTTP answers to their end, within a limit. */

/** The whole body; null if it is longer than `most` bytes, of which no more is read then. */
export async function wholeBody(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
): Promise<Buffer<ArrayBuffer> | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > most) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
