/** Response times over time, with the outages as bands. The same figures are shown beside it as text. */

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { t } from '../texts/texts.js';
import { format } from './time.js';

interface Beat {
  time: string;
  status_label: 'up' | 'down' | 'pending' | 'unknown';
  ping_ms: number | null;
}

const HEIGHT = 220;

export function Chart({ beats, label }: { beats: readonly Beat[]; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const sorted = [...beats].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
    const times = sorted.map(({ time }) => Date.parse(time) / 1000);
    // Missing measurements are gaps, not zero.
    const values = sorted.map(({ ping_ms, status_label }) => (status_label === 'up' ? ping_ms : null));
    // The computed colour: a canvas does not resolve CSS variables.
    const colour = (name: string) => {
      element.style.color = `var(${name})`;
      const { color } = getComputedStyle(element);
      element.style.color = '';
      return color;
    };
    const axis = {
      stroke: () => colour('--chart-text'),
      grid: { stroke: () => colour('--chart-grid'), width: 1 },
      ticks: { show: false },
    };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: true },
        cursor: { drag: { x: true, y: false } },
        hooks: { drawClear: [(drawn) => drawOutages(drawn, sorted, colour('--chart-bad'))] },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(10, max * 1.1)] } },
        axes: [
          { ...axis, values: (_plot, ticks) => ticks.map(timeWord) },
          { ...axis, values: (_plot, ticks) => ticks.map((tick) => `${tick} ms`), size: 64 },
        ],
        series: [
          {
            label: t.monitors.time,
            value: (_plot, value) => (value === null ? '' : new Date(value * 1000).toLocaleString(t.locale)),
          },
          {
            label: t.monitors.responseTime,
            stroke: () => colour('--chart-line'),
            width: 1.5,
            points: { show: sorted.length < 60 },
            value: (_plot, value) => (value === null ? '–' : `${Math.round(value)} ms`),
          },
        ],
      },
      [times, values],
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    const redraw = () => plot.redraw();
    const theme = new MutationObserver(redraw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resize.disconnect();
      theme.disconnect();
      plot.destroy();
    };
  }, [beats]);
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}

/** A time of day, and the day where one begins, as the reader writes them. */
function timeWord(seconds: number): string {
  const at = new Date(seconds * 1000);
  return (at.getHours() + at.getMinutes() === 0 ? format().date : format().clock).format(at);
}

/** Draws each outage once: from the beat that found the site down to the next one that did not. */
function drawOutages(plot: uPlot, beats: readonly Beat[], fill: string): void {
  const { ctx, bbox } = plot;
  const at = (time: string) => plot.valToPos(Date.parse(time) / 1000, 'x', true);
  ctx.save();
  ctx.fillStyle = fill;
  for (let index = 0; index < beats.length; index++) {
    const first = beats[index];
    if (first?.status_label !== 'down') continue;
    while (beats[index + 1]?.status_label === 'down') index++;
    const end = beats[index + 1] ?? beats[index] ?? first;
    const left = Math.max(bbox.left, at(first.time));
    const right = Math.min(bbox.left + bbox.width, at(end.time));
    ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
  }
  ctx.restore();
}
