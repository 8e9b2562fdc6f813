/** Text of servers and registries is data of strangers: one line, without what cannot be seen, capped. */

const UNSEEN = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}/gu;

/** One line of at most `max` characters; '' for anything that is not text. */
export function line(value: unknown, max: number): string {
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  // Bounded before the slow pattern: what survives is what counts.
  const flat = text.slice(0, max * 4).replace(/\s+/g, ' ').replace(UNSEEN, '').trim();
  return flat.length > max ? `${flat.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : flat;
}

export function lineOrNull(value: unknown, max: number): string | null {
  const text = line(value, max);
  return text === '' ? null : text;
}

/** An http(s) address as it may be shown and linked, or null. */
export function webAddress(value: unknown): string | null {
  const text = line(value, 500);
  const candidate = /^https?:\/\//i.test(text) ? text : /^[\w-]+(\.[\w-]+)+(\/\S*)?$/.test(text) ? `http://${text}` : '';
  try {
    const url = new URL(candidate);
    return url.username === '' && url.password === '' ? url.href : null;
  } catch {
    return null;
  }
}
