/** How far a call on many sites has come. */

export interface Progress {
  done: number;
  total: number;
  message: string;
}
