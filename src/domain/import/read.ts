/**
 * Validates the records of a fleet file as a whole. Unusable records are named and left out; nothing is guessed. Pure.
 */

import {
  type FleetClient,
  type FleetCost,
  type FleetIgnored,
  type FleetSite,
  type FleetSource,
  type FleetTag,
  fleetClient,
  fleetCost,
  fleetIgnored,
  fleetSite,
  fleetSource,
  fleetTag,
} from '../../../schemas/fleet.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../runtime/once.js';
import { readClient, readCost, readGlobals, readIgnored, readSite, readTag } from './mainwp.js';
import type { Globals } from './mainwp-monitor.js';
import { type RawRecord, sentence, shownAddress } from './record.js';
import { unusable } from './sealed.js';

/** An unusable record, and the reason. */
export interface Invalid {
  /** Its position: `site 12` by the id of the other dashboard, `line 3, column 2 (url)` of a list. */
  where: string;
  /** Address of the site, '' for other records and if it has none. */
  url: string;
  message: string;
}

export interface Fleet {
  source: FleetSource;
  tags: FleetTag[];
  clients: FleetClient[];
  sites: FleetSite[];
  costs: FleetCost[];
  ignored: FleetIgnored[];
  invalid: Invalid[];
  warnings: string[];
}

const SIGNS_WITH_SHA256: Globals = { sha1: false, verify: true, ipv4: false, monitoring: {} };
const anyRecord = once(() => z.record(z.unknown()));

/** Throws `svc_invalid_input` if the file itself states that it is incomplete. */
export function readFleet(records: readonly unknown[]): Fleet {
  const fleet: Fleet = {
    source: { product: 'mainwp', version: '', url: '' },
    tags: [],
    clients: [],
    sites: [],
    costs: [],
    ignored: [],
    invalid: [],
    warnings: [],
  };
  let globals = SIGNS_WITH_SHA256;
  let sites = 0;
  let ended = false;
  for (const [index, value] of records.entries()) {
    const parsed = anyRecord().safeParse(value);
    if (!parsed.success) {
      fleet.warnings.push(`Record ${index + 1} of the file cannot be imported: it is not an object.`);
      continue;
    }
    const record: RawRecord = parsed.data;
    switch (record.type) {
      case 'source': {
        const source = fleetSource().safeParse(record);
        if (!source.success) throw unusable('It does not say where it comes from.');
        fleet.source = source.data;
        break;
      }
      case 'global':
        if (fleet.source.product === 'mainwp') globals = readGlobals(record);
        break;
      case 'site':
        takeSite(fleet, record, globals, ++sites);
        break;
      case 'end':
        ended = record.sites === sites;
        break;
      default:
        takeOther(fleet, record);
    }
  }
  if (!ended) throw unusable('It does not contain as many sites as it says.');
  nameTags(fleet);
  return fleet;
}

function takeSite(fleet: Fleet, record: RawRecord, globals: Globals, number: number): void {
  const foreign = fleet.source.product === 'mainwp';
  const read = converted(() => (foreign ? readSite(record, globals) : { site: record.site, warnings: [] }));
  const parsed = 'problem' in read ? read : parsedAs(fleetSite(), read.value.site);
  if ('value' in read) fleet.warnings.push(...read.value.warnings);
  if ('value' in parsed) {
    // Tags are referenced by key until all of them have been read.
    const keys = foreign && 'value' in read ? (read.value.site as { tag_keys: string[] }).tag_keys : parsed.value.tags;
    fleet.sites.push({ ...parsed.value, tags: keys });
    return;
  }
  const { key, url, id } = membersOf('value' in read ? read.value.site : record.row);
  const own =
    typeof key === 'string' ? key : foreign && typeof id !== 'object' && id !== undefined ? `site:${id}` : null;
  fleet.invalid.push({
    where: own === null ? `site number ${number} of the file` : placeOf(own),
    url: typeof url === 'string' ? shownAddress(url) : '',
    message: parsed.problem,
  });
}

type Read<T> = { value: T } | { problem: string };

/** What a record of another dashboard says, or the first problem with it. */
function converted<T>(convert: () => T): Read<T> {
  try {
    return { value: convert() };
  } catch (error) {
    if (error instanceof z.ZodError) return { problem: issueText(error) };
    throw error;
  }
}

function parsedAs<T extends z.ZodTypeAny>(schema: T, value: unknown): Read<z.output<T>> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { value: parsed.data } : { problem: issueText(parsed.error) };
}

function membersOf(value: unknown): Record<string, unknown> {
  return anyRecord().safeParse(value).data ?? {};
}

/** `site:12` in readable form: the id that the other dashboard shows. */
export function placeOf(key: string): string {
  return sentence(key.replace(':', ' '));
}

/** Other records matter less than sites: unusable ones are reported and left out. */
function takeOther(fleet: Fleet, record: RawRecord): void {
  const foreign = fleet.source.product === 'mainwp';
  const keep = <T extends z.ZodTypeAny>(what: string, schema: T, read: Read<unknown>, list: z.output<T>[]) => {
    const parsed = 'problem' in read ? read : parsedAs(schema, read.value);
    if ('value' in parsed) list.push(parsed.value);
    else
      fleet.warnings.push(
        `${what} cannot be imported${nameOf('value' in read ? read.value : record.row)}: ${parsed.problem}`,
      );
  };
  const read = (convert: (record: RawRecord) => unknown, own: unknown) =>
    converted(() => (foreign ? convert(record) : own));
  switch (record.type) {
    case 'tag':
      keep('A tag', fleetTag(), read(readTag, record.tag), fleet.tags);
      break;
    case 'client':
      keep('A client', fleetClient(), read(readClient, record.client), fleet.clients);
      break;
    case 'cost':
      keep(
        'A cost',
        fleetCost(),
        read((raw) => withoutKeys(readCost(raw)), withoutKeys(record.cost)),
        fleet.costs,
      );
      break;
    case 'ignored': {
      const items = read(readIgnored, record.ignored);
      const list = 'value' in items && Array.isArray(items.value) ? items.value.map((value) => ({ value })) : [items];
      for (const item of list) keep('An ignored update', fleetIgnored(), item, fleet.ignored);
      break;
    }
    default:
      // From a newer version: its purpose is unknown here.
      fleet.warnings.push(
        `Records of the kind ${typeof record.type === 'string' ? JSON.stringify(sentence(record.type)) : 'that is no text'} are unknown.`,
      );
  }
}

/** A cost without targets covers nothing; absent lists count as empty. */
function withoutKeys(cost: unknown): unknown {
  return { sites: [], tags: [], clients: [], ...membersOf(cost) };
}

/** From here on sites refer to tags by name, so that two with one name become one. */
function nameTags(fleet: Fleet): void {
  if (fleet.source.product !== 'mainwp') return;
  const names = new Map(fleet.tags.map((tag) => [tag.key, tag.name]));
  fleet.sites = fleet.sites.map((site) => ({
    ...site,
    tags: [...new Set(site.tags.flatMap((key) => names.get(key) ?? []))],
  }));
}

function nameOf(value: unknown): string {
  const { name } = membersOf(value);
  return typeof name === 'string' && name !== '' ? ` (${sentence(name)})` : '';
}

/** The first problem, with its field. Values are not quoted: they may be secret. */
function issueText(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'cannot be used.';
  const message = issue.message.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  return `${issue.path.join('.')}: ${message.replace(/\.$/, '')}.`;
}
