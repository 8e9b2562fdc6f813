/** Calendar days as `YYYY-MM-DD`. */

/** Whether a text is an existing day. `Date.parse` alone takes February 30 for March 2. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
