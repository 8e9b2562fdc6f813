/** Times of day. */

/** `HH:MM` as minutes of the day. */
export function minutesOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** Minutes of the day as `HH:MM`. */
export function timeOf(minutes: number | null): string | null {
  if (minutes === null) return null;
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
