/**
 * Compares pictures of a page: how much of what it shows has changed. What differed between two looks before the update
 * is ignored, and so is what only moved up or down.
 */

import type { Pixels } from '../../../outbound/pictures/pictures.js';

/** Pictures are judged by cells of this many pixels. */
const CELL = 8;
/** Differing pixels that make a cell differ. */
const PIXELS = 6;
/** Of what is not judged, a picture may consist at most to this part. */
const TOO_NOISY = 0.7;
/** Gray levels by which rows that are the same may differ. */
const SAME_ROW = 12;
/** Every second row is searched in the other picture. */
const STEP = 2;
/** Fewer rows with something in them tell nothing: a few lines of text. */
const FEW_ROWS = 50;
/** Rows above and below one that are judged with it. */
const AROUND = 2;

/** One byte for each cell: it differs. */
export type Cells = Uint8Array;

type PixelMatch = typeof import('pixelmatch').default;

/** Pixels are compared with their neighbours, so that edges drawn a little differently are the same. */
export async function pixelMatch(): Promise<PixelMatch> {
  return (await import('pixelmatch')).default;
}

/** The cells in which two pictures of the same size differ. */
export function differing(match: PixelMatch, a: Pixels, b: Pixels): Cells {
  const { width, height } = a;
  const mask = new Uint8Array(width * height * 4);
  match(a.data, b.data, mask, width, height, { diffMask: true, threshold: 0.1 });
  const cells = new Uint8Array(columns(a) * rows(a));
  const counts = new Uint16Array(cells.length);
  for (let at = 0; at < width * height; at++) {
    // Red is a difference; yellow one of edges.
    if (mask[at * 4 + 3] === 0 || mask[at * 4 + 1] !== 0) continue;
    const cell = Math.floor(Math.floor(at / width) / CELL) * columns(a) + Math.floor((at % width) / CELL);
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  for (let at = 0; at < cells.length; at++) cells[at] = (counts[at] ?? 0) >= PIXELS ? 1 : 0;
  return cells;
}

/** Cells that differ by themselves, with those around them. */
export function withNeighbours(cells: Cells, picture: Pixels): Cells {
  const wide = columns(picture);
  const grown = new Uint8Array(cells.length);
  for (let at = 0; at < cells.length; at++) {
    if (cells[at] === 0) continue;
    for (const down of [-1, 0, 1])
      for (const right of [-1, 0, 1]) {
        const column = (at % wide) + right;
        const to = at + down * wide + right;
        if (column >= 0 && column < wide && to >= 0 && to < grown.length) grown[to] = 1;
      }
  }
  return grown;
}

/**
 * The share of what the pages show that has changed, 0 to 1; null = too much of it changes on its own.
 * @param noise cells that are not judged
 */
export function changedShare(match: PixelMatch, before: Pixels, now: Pixels, noise: Cells): number | null {
  const drawn = [before, now].map(filled);
  const changed = differing(match, before, now);
  let all = 0;
  let judged = 0;
  let different = 0;
  for (let at = 0; at < changed.length; at++) {
    if (drawn.every((cells) => cells[at] === 0) && changed[at] === 0) continue;
    all++;
    if (noise[at] !== 0) continue;
    judged++;
    different += changed[at] ?? 0;
  }
  if (all > 0 && judged < all * (1 - TOO_NOISY)) return null;
  if (different === 0) return 0;
  return Math.min(different / judged, lost(before, now, noise));
}

/** Cells in which something is drawn. */
function filled(picture: Pixels): Cells {
  const cells = new Uint8Array(columns(picture) * rows(picture));
  const { width, height, data } = picture;
  for (let y = 0; y < height; y++)
    for (let x = 1; x < width; x++) {
      const at = (y * width + x) * 4;
      if (Math.abs((data[at] ?? 0) - (data[at - 4] ?? 0)) + Math.abs((data[at + 1] ?? 0) - (data[at - 3] ?? 0)) > 24)
        cells[Math.floor(y / CELL) * columns(picture) + Math.floor(x / CELL)] = 1;
    }
  return cells;
}

/**
 * The share of rows with something in them that are nowhere in the other picture, in the same order. What is new there is
 * no loss: what changes on its own may have moved, too.
 */
function lost(before: Pixels, now: Pixels, noise: Cells): number {
  const rows = rowsOf(before, noise).filter(({ at, drawn }) => drawn && at % STEP === 0);
  return rows.length < FEW_ROWS ? 0 : 1 - inOrder(rows, rowsOf(now)) / rows.length;
}

/** How many of these rows are in the other picture, in the same order. */
function inOrder(some: readonly Row[], all: readonly Row[]): number {
  let last = new Uint16Array(all.length + 1);
  for (const { levels } of some) {
    const next = new Uint16Array(all.length + 1);
    for (let j = 0; j < all.length; j++)
      next[j + 1] = same(levels, all[j]?.levels) ? (last[j] ?? 0) + 1 : Math.max(last[j + 1] ?? 0, next[j] ?? 0);
    last = next;
  }
  return last[all.length] ?? 0;
}

interface Row {
  /** From the top, in pixels of the picture; halves lie between two. */
  at: number;
  /** Mean gray levels, from left to right; NaN is not judged, and the same as any. */
  levels: Float32Array;
  drawn: boolean;
}

/**
 * Rows of the picture and what lies between two of them, each as the mean of some around it: parts may have moved by
 * half a pixel.
 */
function rowsOf(picture: Pixels, noise?: Cells): Row[] {
  const { width, height, data } = picture;
  // What is left at the right belongs to the last part: a narrow one would be decided by a line.
  const wide = Math.max(1, Math.floor(width / (2 * CELL)));
  const partOf = (x: number) => Math.min(Math.floor(x / (2 * CELL)), wide - 1);
  const last = width - 2 * CELL * (wide - 1);
  const lines = Array.from({ length: height }, (_, y) => {
    const levels = new Float32Array(wide);
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      const gray = 0.3 * (data[at] ?? 0) + 0.6 * (data[at + 1] ?? 0) + 0.1 * (data[at + 2] ?? 0);
      const to = partOf(x);
      levels[to] = (levels[to] ?? 0) + gray / (to === wide - 1 ? last : 2 * CELL);
    }
    return levels;
  });
  return Array.from({ length: 2 * height - 1 }, (_, half) => {
    const at = half / 2;
    const [top, bottom] = [Math.max(0, Math.floor(at) - AROUND), Math.min(Math.ceil(at) + AROUND, height - 1)];
    const levels = meanOf(lines.slice(top, bottom + 1));
    if (noise !== undefined)
      for (let x = 0; x < wide; x++) if (isNoisy(picture, noise, x, top, bottom)) levels[x] = Number.NaN;
    const judged = levels.filter((level) => !Number.isNaN(level));
    return { at, levels, drawn: judged.length > 0 && Math.max(...judged) - Math.min(...judged) > SAME_ROW };
  });
}

/** Whether a part of a row has cells that are not judged. */
function isNoisy(picture: Pixels, noise: Cells, x: number, top: number, bottom: number): boolean {
  for (const row of [top, bottom])
    for (const column of [2 * x, 2 * x + 1])
      if (column < columns(picture) && noise[Math.floor(row / CELL) * columns(picture) + column] !== 0) return true;
  return false;
}

function meanOf(lines: readonly Float32Array[]): Float32Array {
  const levels = new Float32Array(lines[0]?.length ?? 0);
  for (const line of lines)
    for (let x = 0; x < levels.length; x++) levels[x] = (levels[x] ?? 0) + (line[x] ?? 0) / lines.length;
  return levels;
}

function same(a: Float32Array, b: Float32Array | undefined): boolean {
  if (b === undefined) return false;
  for (let at = 0; at < a.length; at++) if (Math.abs((a[at] ?? 0) - (b[at] ?? 0)) > SAME_ROW) return false;
  return true;
}

function columns({ width }: Pixels): number {
  return Math.ceil(width / CELL);
}

function rows({ height }: Pixels): number {
  return Math.ceil(height / CELL);
}
