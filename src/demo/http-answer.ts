/** What goes back over HTTP. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Buffer;
  /** The work is done, the connection breaks before the answer (fault `dieMidUpdate`). */
  drop?: boolean;
}
