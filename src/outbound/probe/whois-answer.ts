import { domainToUnicode } from 'node:url';
import { parseDomainWhois } from 'whoiser/src/parsers.js';
import type { DomainFacts } from './probe.js';
import { line, lineOrNull, webAddress } from './text.js';

export type WhoisReading =
  | { outcome: 'found'; facts: DomainFacts }
  | { outcome: 'not_found' }
  | { outcome: 'limited' }
  | { outcome: 'unreadable' };

const NOT_REGISTERED =
  /\b(?:no match|not found|no entries found|no data found|no object found|nothing found|not registered|no information available|object does not exist|domain unknown|is available|is free)\b|^[ \t]*status:[ \t]*(?:free|available)\b/im;
const LIMITED =
  /\b(?:limit(?:s)? (?:is |was |has been )?exceeded|exceeded .{0,40}(?:limit|quota|number)|quota exceeded|too many (?:requests|queries|connections)|query rate|rate.?limit|try again later|blacklisted|temporarily (?:blocked|denied))\b/i;

/** Parses a registry's free text with the rules that whoiser has collected for each of them. */
export function whoisAnswer(text: string, name: string): WhoisReading {
  const facts = read(text, name);
  if (facts !== null) return { outcome: 'found', facts };
  // Notices in normal answers mention limits too, so these words count only if there is nothing else.
  const said = text
    .split('\n')
    .filter((one) => !/^\s*(?:%|#|>>>)\s*$/.test(one))
    .join('\n');
  if (LIMITED.test(said)) return { outcome: 'limited' };
  return { outcome: NOT_REGISTERED.test(said) ? 'not_found' : 'unreadable' };
}

function read(text: string, name: string): DomainFacts | null {
  let parsed: Record<string, unknown>;
  try {
    parsed = parseDomainWhois(name, text.replaceAll('\r', ''), true);
  } catch {
    // Its special cases fail on records they do not expect.
    return null;
  }
  const own = line(parsed['Domain Name'], 300).toLowerCase().replace(/\.$/, '');
  const facts: DomainFacts = {
    domain_name: name,
    registrar: lineOrNull(parsed.Registrar, 200),
    registrar_url: webAddress(parsed['Registrar URL']),
    registrar_iana_id: lineOrNull(parsed['Registrar IANA ID'], 20),
    creation_date: whoisDate(parsed['Created Date']),
    updated_date: whoisDate(parsed['Updated Date']),
    expiry_date: whoisDate(parsed['Expiry Date']),
    domain_status: words(parsed['Domain Status']),
    name_servers: [...new Set(words(parsed['Name Server']).map((server) => server.toLowerCase().replace(/\.$/, '')))],
  };
  const known = facts.creation_date !== null || facts.expiry_date !== null || facts.name_servers.length > 0;
  if (!known) return null;
  // A record of another name (a nameserver, a registrar) must not be mistaken for this one; some put more text after
  // the name.
  return own === '' || own.split(' ').includes(name) || own.includes(domainToUnicode(name)) ? facts : null;
}

function words(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  // `clientTransferProhibited https://icann.org/epp#…`: the word without its explanation.
  return [
    ...new Set(
      value.slice(0, 50).map((one) =>
        line(
          String(one)
            .slice(0, 1000)
            .replace(/\s*\(?https?:\S*/g, ''),
          253,
        ),
      ),
    ),
  ].filter(Boolean);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const TIME = String.raw`(?:[ T]+(\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?)?`;
const YEAR_FIRST = new RegExp(String.raw`(?<!\d)(\d{4})[-./]\s?(\d{1,2})[-./]\s?(\d{1,2})\.?${TIME}`);
const DAY_FIRST = new RegExp(String.raw`(?<!\d)(\d{1,2})[-./]\s?(\d{1,2})[-./]\s?(\d{4})${TIME}`);
const MONTH_NAMED = new RegExp(String.raw`(?<!\d)(\d{1,2})[- .]([a-z]{3})[a-z]*[- .,]+(\d{4})${TIME}`, 'i');
const MONTH_FIRST = /\b([a-z]{3})[a-z]*\s+(\d{1,2})(?:\s+\d{2}:\d{2}:\d{2})?(?:\s+[A-Z]{2,4})?,?\s+(\d{4})/i;
const COMPACT = /(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)/;

/** The first date in a text, as milliseconds in UTC: registries use all kinds of formats. Null if there is none. */
export function whoisDate(value: unknown): number | null {
  const text = line(Array.isArray(value) ? value[0] : value, 120);
  let found = YEAR_FIRST.exec(text);
  if (found !== null) return utc(found[1], found[2], found[3], found.slice(4));
  found = DAY_FIRST.exec(text);
  if (found !== null) return utc(found[3], found[2], found[1], found.slice(4));
  found = MONTH_NAMED.exec(text);
  if (found !== null) return utc(found[3], monthOf(found[2]), found[1], found.slice(4));
  found = MONTH_FIRST.exec(text);
  if (found !== null) return utc(found[3], monthOf(found[1]), found[2], []);
  found = COMPACT.exec(text);
  return found === null ? null : utc(found[1], found[2], found[3], []);
}

function monthOf(name: string | undefined): string {
  return String(MONTHS.indexOf((name ?? '').slice(0, 3).toLowerCase()) + 1);
}

function utc(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  time: readonly (string | undefined)[],
): number | null {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const [hours = 0, minutes = 0, seconds = 0] = time.map((part) => Number(part ?? 0));
  const at = Date.UTC(y, m - 1, d, hours, minutes, seconds);
  const date = new Date(at);
  // Date rolls 31.02. over; it is not a valid date.
  return date.getUTCMonth() === m - 1 && date.getUTCDate() === d && y >= 1985 && y < 2200 ? at : null;
}
