/** ETags of answers that are read from storage: of their text, or of what storage says they are known by. */

import { hash } from 'node:crypto';

/** Names the text by its digest. */
export function tagOfText(text: string | Uint8Array): string {
  return `"${digest(text, 27)}"`;
}

/** What distinguishes answers of one revision: what was asked, and who sees which sites. */
export function askedDigest(url: string, deniedSites: readonly number[], version: string): string {
  return digest(JSON.stringify([url, deniedSites, version]), 20);
}

export function tagOfRevision(asked: string, revision: string): string {
  return `"${asked}.${revision}"`;
}

/** Revisions of the same question that the caller has. @param header If-None-Match */
export function heldRevisions(header: string | null, asked: string): string[] {
  const begin = `"${asked}.`;
  return tagsOf(header).flatMap((tag) => (tag.startsWith(begin) ? [tag.slice(begin.length, -1)] : []));
}

/** Weak comparison, as If-None-Match wants it (RFC 9110 §13.1.2). */
export function holdsTag(header: string | null, tag: string): boolean {
  return header?.trim() === '*' || tagsOf(header).includes(tag);
}

function tagsOf(header: string | null): string[] {
  return (header ?? '').split(',').map((entry) => entry.trim().replace(/^W\//, ''));
}

function digest(text: string | Uint8Array, length: number): string {
  return hash('sha256', text, 'base64url').slice(0, length);
}
