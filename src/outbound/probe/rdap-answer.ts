import { isObject } from '../../runtime/plain-json.js';
import type { DomainFacts } from './probe.js';
import { line, lineOrNull, webAddress } from './text.js';
import { whoisDate } from './whois-answer.js';

type Json = Record<string, unknown>;

const MAX_LIST = 50;
const MAX_DATE = 120;
const ZONED = /\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/i;

/** The facts of an RDAP domain object (RFC 9083), or what is wrong with it as the rest of a sentence. */
export function domainFacts(body: string, name: string): DomainFacts | string {
  let root: unknown;
  try {
    root = JSON.parse(body);
  } catch {
    return 'sent an answer that is not JSON';
  }
  if (!isObject(root)) return 'sent an answer that is not a domain record';
  if (root.objectClassName !== undefined && root.objectClassName !== 'domain')
    return 'sent a record that is not for a domain';
  const ldhName = line(root.ldhName, 253).toLowerCase().replace(/\.$/, '');
  if (ldhName !== '' && ldhName !== name) return "sent another domain's record";
  const dates = eventDates(root.events);
  const statuses = list(root.status)
    .map((one) => line(one, 60))
    .filter(Boolean);
  const registrar = list(root.entities)
    .filter(isObject)
    .find((entity) => list(entity.roles).includes('registrar'));
  if (ldhName === '' && dates.size === 0 && statuses.length === 0) return 'sent a record without any facts';
  return {
    domain_name: name,
    registrar: registrar === undefined ? null : registrarName(registrar),
    registrar_url: registrar === undefined ? null : registrarUrl(registrar),
    registrar_iana_id: registrar === undefined ? null : ianaId(registrar),
    creation_date: dates.get('registration') ?? null,
    updated_date: dates.get('last changed') ?? null,
    expiry_date: dates.get('expiration') ?? dates.get('registrar expiration') ?? null,
    domain_status: [...new Set(statuses)],
    name_servers: list(root.nameservers)
      .filter(isObject)
      .map((server) => line(server.ldhName, 253).toLowerCase().replace(/\.$/, ''))
      .filter(Boolean),
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST) : [];
}

/** The latest date of each event: some registries list every change. */
function eventDates(events: unknown): Map<string, number> {
  const dates = new Map<string, number>();
  for (const event of list(events).filter(isObject)) {
    const at = eventDate(event.eventDate);
    const action = line(event.eventAction, 60).toLowerCase();
    if (at !== null && action !== '') dates.set(action, Math.max(at, dates.get(action) ?? at));
  }
  return dates;
}

/** Not all follow RFC 3339: without a zone, `Date.parse` would use that of this machine. */
function eventDate(value: unknown): number | null {
  if (typeof value !== 'string' || value.length > MAX_DATE) return null;
  const at = ZONED.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? whoisDate(value) : at;
}

/** Name of a jCard: `["vcard", [[property, parameters, type, value], …]]` (RFC 7095). */
function registrarName(entity: Json): string | null {
  return card(entity, 'fn') ?? card(entity, 'org') ?? lineOrNull(entity.handle, 200);
}

function registrarUrl(entity: Json): string | null {
  const links = list(entity.links).filter(isObject);
  const about = links.find(({ rel }) => rel === 'about') ?? links.find(({ type }) => type === 'text/html');
  return webAddress(card(entity, 'url') ?? about?.href);
}

function card(entity: Json, property: string): string | null {
  const rows = Array.isArray(entity.vcardArray) ? list(entity.vcardArray[1]) : [];
  const row = rows.find((one) => Array.isArray(one) && one[0] === property) as unknown[] | undefined;
  return lineOrNull(row?.[3], 200);
}

function ianaId(entity: Json): string | null {
  const id = list(entity.publicIds)
    .filter(isObject)
    .find(({ type }) => /iana/i.test(line(type, 60)));
  return lineOrNull(id?.identifier, 20);
}
