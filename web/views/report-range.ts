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

/** The printable page of a site's report over these days. */
export const reportAddress = (site: number | string, from: string, to: string) =>
  `/v2/pro-reports/${site}/report?start_date=${from}&end_date=${to}`;
