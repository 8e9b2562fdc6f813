/** Which days reports are about, and their addresses. */

const dayOf = (date: Date) =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;

/** The last full month in the reader's time zone: first and last day. */
export function lastMonth(): [from: string, to: string] {
  const now = new Date();
  return [
    dayOf(new Date(now.getFullYear(), now.getMonth() - 1, 1)),
    dayOf(new Date(now.getFullYear(), now.getMonth(), 0)),
  ];
}

/** The days that a link asks for. */
export function rangeIn({
  from = '',
  to = '',
}: {
  from?: string;
  to?: string;
}): [from: string, to: string] | undefined {
  const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text);
  return isDay(from) && isDay(to) && from <= to ? [from, to] : undefined;
}

/** A report that was asked for before the login, as the address of the login has it: nothing else is gone on to. */
export function askedReport(to: string | undefined): string | undefined {
  return to !== undefined && /^\/v2\/pro-reports\/[\w.-]+\/report\?[\w=&,%.-]*$/.test(to) ? to : undefined;
}

/** The printable page of a site's report over these days. */
export const reportAddress = (site: number | string, from: string, to: string) =>
  `/v2/pro-reports/${site}/report?start_date=${from}&end_date=${to}`;
