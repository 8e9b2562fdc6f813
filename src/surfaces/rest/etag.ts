/** ETags of answers that are read from storage: from a digest of their text, or from a revision that storage knows. */

import { hash } from 'node:crypto';

/** The ETag of a text, from its digest. */
export function tagOfText(text: string | Uint8Array): string {
  return `"${digest(text, 27)}"`;
}

/** Digest of everything that distinguishes answers of one revision: the URL and the program version. */
export function askedDigest(url: string, version: string): string {
  return digest(JSON.stringify([url, version]), 20);
}

export function tagOfRevision(asked: string, revision: string): string {
  return `"${asked}.${revision}"`;
}

/** Revisions that the caller already has for the same request. @param header If-None-Match */
export function heldRevisions(header: string | null, asked: string): string[] {
  const begin = `"${asked}.`;
  return tagsOf(header).flatMap((tag) => (tag.startsWith(begin) ? [tag.slice(begin.length, -1)] : []));
}

/** Weak comparison, as required for If-None-Match (RFC 9110 §13.1.2). */
export function holdsTag(header: string | null, tag: string): boolean {
  return header?.trim() === '*' || tagsOf(header).includes(tag);
}

function tagsOf(header: string | null): string[] {
  return (header ?? '').split(',').map((entry) => entry.trim().replace(/^W\//, ''));
}

function digest(text: string | Uint8Array, length: number): string {
  return hash('sha256', text, 'base64url').slice(0, length);
}
