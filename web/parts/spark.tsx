/** A small line of values by day. A day without a value is a gap, never 0. */

const WIDTH = 88;
const HEIGHT = 24;
const EDGE = 3;

/** @param values one for each day, oldest first; null = not known */
export function Spark({ values, label }: { values: readonly (number | null)[]; label: string }) {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (index: number) => EDGE + (index * (WIDTH - 2 * EDGE)) / Math.max(1, values.length - 1);
  const y = (value: number) =>
    high === low ? HEIGHT / 2 : HEIGHT - EDGE - ((value - low) * (HEIGHT - 2 * EDGE)) / (high - low);
  const last = values.findLastIndex((value) => value !== null);
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {runsOf(values).map((run) => (
        <polyline
          key={run[0]?.index}
          // A value alone is a point: a line needs two ends.
          points={[...run, ...run.slice(-1)].map(({ index, value }) => `${x(index)},${y(value)}`).join(' ')}
        />
      ))}
      {last !== -1 && <circle cx={x(last)} cy={y(values[last] ?? 0)} r={2.5} />}
    </svg>
  );
}

/** The values that follow each other without a gap. */
function runsOf(values: readonly (number | null)[]): { index: number; value: number }[][] {
  const runs: { index: number; value: number }[][] = [];
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const current = runs.at(-1);
    if (current?.at(-1)?.index === index - 1) current.push({ index, value });
    else runs.push([{ index, value }]);
  }
  return runs;
}
