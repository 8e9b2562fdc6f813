/** The fleet in figures, each with its last 30 days. */

import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { Card } from '../parts/page.js';
import { Spark } from '../parts/spark.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';

const DAYS = 30;
const DAY_MS = 86_400_000;
const FIGURES = [
  ['connected', '/sites?orderby=status'],
  ['down', '/sites?monitor=down'],
  ['disconnected', '/sites?status=disconnected'],
  ['suspended', '/sites?status=suspended'],
  ['updates', '/updates'],
  ['vulnerable', '/vulnerabilities'],
  ['uptime', '/monitors'],
] as const;
type Figure = (typeof FIGURES)[number][0];
/** Shown only while there are or were some. */
const RARE: readonly Figure[] = ['suspended'];

export function Trend() {
  const days = useLoad('now:days', (signal) =>
    answer(api.GET('/fleet/days', { params: { query: { days: DAYS } }, signal })).then(({ data }) => data),
  );
  const oldPhp = useLoad('now:php', (signal) => {
    const query = { php_below: OLD, columns: ['id' as const], per_page: 1 };
    return answer(api.GET('/fleet/sites', { params: { query }, signal }));
  });
  return (
    <Card title={t.trend.title}>
      <Loaded of={days}>{(data) => <Figures days={data} oldPhp={oldPhp.data} />}</Loaded>
    </Card>
  );
}

interface OldPhpCount {
  total: number;
  unknown?: number | undefined;
}

type Day = { date: string } & Record<Figure, number | null>;

function Figures({ days, oldPhp }: { days: readonly Day[]; oldPhp: OldPhpCount | undefined }) {
  const last = days.at(-1);
  if (last === undefined) return null;
  const byDate = new Map(days.map((day) => [day.date, day]));
  const until = Date.parse(`${last.date}T00:00:00Z`);
  const dates = Array.from({ length: DAYS }, (_, index) =>
    new Date(until - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  return (
    <dl class="trend">
      {FIGURES.map(([figure, href]) => {
        const values = dates.map((date) => byDate.get(date)?.[figure] ?? null);
        if (RARE.includes(figure) && values.every((value) => value === null || value === 0)) return null;
        const known = values.filter((value) => value !== null);
        // Of today the uptime is known tomorrow.
        const now = figure === 'uptime' ? mean(known) : last[figure];
        const shown = now === null ? t.unknown : figure === 'uptime' ? t.percent(now) : number(now);
        return (
          <div key={figure}>
            <dt>
              <a href={href}>{t.trend.figure[figure]}</a>
            </dt>
            <dd>
              {known.length > 1 && (
                <Spark
                  values={values}
                  label={t.trend.label(t.trend.figure[figure], spanOf(known, figure), known.length)}
                />
              )}
              <strong class={now === null ? 'muted' : figure === 'down' && now > 0 ? 'problem' : ''}>{shown}</strong>
            </dd>
          </div>
        );
      })}
      {oldPhp !== undefined && <OldPhp {...oldPhp} />}
    </dl>
  );
}

/** Versions before this one get no security fixes any more. */
const OLD = '8.1';

/** Sites with an old PHP: of today only. */
function OldPhp({ total, unknown = 0 }: OldPhpCount) {
  return (
    <div>
      <dt>
        <a href={`/sites?php_below=${OLD}`}>{t.sites.filter('php_below', OLD)}</a>
      </dt>
      <dd>
        {unknown > 0 && <span class="muted small">{t.trend.unknown(number(unknown))}</span>}
        <strong>{number(total)}</strong>
      </dd>
    </div>
  );
}

function mean(known: readonly number[]): number | null {
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function spanOf(known: readonly number[], figure: Figure): string {
  const word = (value: number) => (figure === 'uptime' ? t.percent(value) : number(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return low === high ? word(low) : `${word(low)} – ${word(high)}`;
}
