/** Progress of a call on many sites. */

export interface Progress {
  done: number;
  total: number;
  message: string;
}
