/** Time zones: converts between wall clock and instants, by the runtime's zone database. Pure. */

const OFFSET = /^UTC([+-])(\d{1,2})(?::(00|15|30|45))?$/;
const NAME = /^[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)*$/;

/** A clock reading: month 1 to 12. */
export interface Wall {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/** `Europe/Berlin`, `UTC`, or a fixed `UTC±H` with optional `:15`, `:30`, `:45`, at most 14 hours (REST §6.10.1). */
export function isZone(zone: string): boolean {
  const minutes = fixedOffset(zone);
  if (minutes !== null) return Math.abs(minutes) <= 14 * 60;
  if (!NAME.test(zone) || zone.length > 64) return false;
  try {
    formatter(zone);
    return true;
  } catch {
    return false;
  }
}

/** Minutes of a `UTC±H[:MM]` zone, null for any other text. */
function fixedOffset(zone: string): number | null {
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (hours === undefined) return null;
  const total = Number(hours) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -total : total;
}

/** Of the zones that were used first: making one takes a hundred times as long as using it, and some memory. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const KEPT = 50;

/** Throws if there is no such zone. */
function formatter(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formatters.size < KEPT) formatters.set(zone, made);
  return made;
}

/** The wall clock of the zone at an instant (ms since the epoch). An unknown zone counts as UTC. */
export function wallOf(at: number, zone: string): Wall {
  const fixed = fixedOffset(zone);
  if (fixed !== null || !isZone(zone)) return utcWall(at + (fixed ?? 0) * 60_000);
  const parts = new Map(
    formatter(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
  };
}

function utcWall(at: number): Wall {
  const date = new Date(at);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

function asUtc({ year, month, day, hour, minute, second }: Wall): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * The instant at which the zone's wall clock shows this. A reading skipped by a change to summer time uses the offset
 * before the change; a repeated one means the first occurrence.
 */
export function momentOf(wall: Wall, zone: string): number {
  const reading = asUtc(wall);
  const before = offsetAt(reading - 24 * 3600_000, zone);
  const after = offsetAt(reading + 24 * 3600_000, zone);
  const candidates = [before, after].map((offset) => reading - offset);
  return candidates.find((at) => at + offsetAt(at, zone) === reading) ?? reading - before;
}

/** Milliseconds by which the zone is ahead of UTC. */
function offsetAt(at: number, zone: string): number {
  const whole = Math.floor(at / 1000) * 1000;
  return asUtc(wallOf(whole, zone)) - whole;
}

/** First instant of a `YYYY-MM-DD` day in the zone. */
export function dayStart(day: string, zone: string): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number);
  return momentOf({ year, month, day: date, hour: 0, minute: 0, second: 0 }, zone);
}

/** First instant of the following day. */
export function dayEnd(day: string, zone: string): number {
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 24 * 3600_000).toISOString().slice(0, 10);
  return dayStart(next, zone);
}

/** `YYYY-MM-DD HH:MM:SS` as WordPress writes an instant in the zone. */
export function wordpressTime(at: number, zone: string): string {
  return new Date(asUtc(wallOf(at, zone))).toISOString().slice(0, 19).replace('T', ' ');
}

/** The zone of a site as its child reports it: a name, otherwise an offset in hours such as `5.5`, otherwise UTC. */
export function zoneOfSite(site: { timezone: string; gmt_offset: string }): string {
  if (site.timezone !== '' && isZone(site.timezone)) return site.timezone;
  const hours = Number(site.gmt_offset);
  if (site.gmt_offset === '' || !Number.isFinite(hours) || Math.abs(hours) > 14) return 'UTC';
  const minutes = Math.round(Math.abs(hours) * 60);
  return `UTC${hours < 0 ? '-' : '+'}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
}
