/** Charts as inline SVG: no scripts, fonts or requests, so they print as shown. Pure. */

import { type Html, html } from '../../runtime/html.js';
import type { ChartPoint } from './types.js';

export interface Chart {
  title: string;
  value: readonly ChartPoint[];
  unit: string;
  /** Upper end of the scale; null = derived from the values. */
  max: number | null;
}

const WIDTH = 720;
const HEIGHT = 220;
const LEFT = 48;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 30;
const INNER_W = WIDTH - LEFT - RIGHT;
const INNER_H = HEIGHT - TOP - BOTTOM;
/** More bars than this would be thinner than a line. */
const MAX_BARS = 62;

export function chartSvg(chart: Chart): Html {
  const points = chart.value;
  const known = points.flatMap(({ value }) => (value === null ? [] : [value]));
  const max = chart.max ?? niceMax(Math.max(0, ...known));
  const min = floorOf(chart, known);
  const y = (value: number) => TOP + INNER_H * (1 - Math.min(1, Math.max(0, (value - min) / (max - min))));
  const body = points.length > MAX_BARS ? line(points, y) : bars(points, y, chart.unit);
  const label = `${chart.title}: ${points.length} days, from ${points[0]?.date ?? ''} to ${points.at(-1)?.date ?? ''}`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="100%" role="img" aria-label="${label}" font-family="system-ui,sans-serif" font-size="11">
${grid(min, max, chart.unit, y)}
${body}
${dates(points)}
</svg>`;
}

/** A round number not below `value`: 1, 2 or 5 times a power of ten. */
function niceMax(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/**
 * Percentages near a hundred differ by fractions: on a scale from 0 they would all look the same. The axis shows where
 * the scale begins.
 */
function floorOf({ unit }: Chart, known: readonly number[]): number {
  if (unit !== '%' || known.length === 0) return 0;
  const lowest = Math.min(...known);
  return lowest >= 99 ? 98 : lowest >= 90 ? 90 : lowest >= 60 ? 50 : 0;
}

function grid(min: number, max: number, unit: string, y: (value: number) => number): Html[] {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = min + (max - min) * share;
    const at = round(y(value));
    return html`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#e5e7eb"/><text x="${LEFT - 6}" y="${at + 4}" text-anchor="end" fill="#6b7280">${round(value)}${unit}</text>`;
  });
}

function bars(points: readonly ChartPoint[], y: (value: number) => number, unit: string): (Html | null)[] {
  const step = INNER_W / Math.max(1, points.length);
  const width = Math.max(2, Math.min(40, step * 0.7));
  return points.map(({ date, value }, i) => {
    if (value === null) return null;
    const top = y(value);
    const x = LEFT + step * i + (step - width) / 2;
    return html`<rect x="${round(x)}" y="${round(top)}" width="${round(width)}" height="${round(Math.max(1, TOP + INNER_H - top))}" rx="2" fill="#2563eb"><title>${date}: ${round(value)}${unit}</title></rect>`;
  });
}

/** Interrupted where there is no value: a gap is not a zero. */
function line(points: readonly ChartPoint[], y: (value: number) => number): Html {
  const step = INNER_W / Math.max(1, points.length - 1);
  let drawing = false;
  const path = points
    .map(({ value }, i) => {
      if (value === null) {
        drawing = false;
        return '';
      }
      const command = drawing ? 'L' : 'M';
      drawing = true;
      return `${command}${round(LEFT + step * i)} ${round(y(value))}`;
    })
    .join('');
  return html`<path d="${path}" fill="none" stroke="#2563eb" stroke-width="2" stroke-linejoin="round"/>`;
}

/** As many dates as fit, including the first and the last. */
function dates(points: readonly ChartPoint[]): Html[] {
  const shown = Math.min(7, points.length);
  const step = INNER_W / Math.max(1, points.length);
  return Array.from({ length: shown }, (_, k) => {
    const i = shown === 1 ? 0 : Math.round((k * (points.length - 1)) / (shown - 1));
    const x = round(LEFT + step * (i + 0.5));
    return html`<text x="${x}" y="${HEIGHT - 10}" text-anchor="middle" fill="#6b7280">${points[i]?.date.slice(5) ?? ''}</text>`;
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
