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
  fleetGlobal,
  fleetIgnored,
  fleetSite,
  fleetSource,
  fleetTag,
} from '../../../schemas/fleet.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../runtime/once.js';
import { readClient, readCost, readGlobals, readIgnored, readSite, readTag } from './mainwp.js';
import type { Globals } from './mainwp-monitor.js';
import { type RawRecord, sentence } from './record.js';
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
  for (const value of records) {
    const parsed = anyRecord().safeParse(value);
    if (!parsed.success) throw unusable('One of its records is not an object.');
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
  const { site, warnings } = foreign ? readSite(record, globals) : { site: record.site, warnings: [] };
  const parsed = fleetSite().safeParse(site);
  fleet.warnings.push(...warnings);
  if (parsed.success) {
    // Tags are referenced by key until all of them have been read.
    const keys = foreign ? (site as { tag_keys: string[] }).tag_keys : [];
    fleet.sites.push(foreign ? { ...parsed.data, tags: keys } : parsed.data);
    return;
  }
  const { key, url } = anyRecord().safeParse(site).data ?? {};
  fleet.invalid.push({
    where: typeof key === 'string' ? placeOf(key) : `site number ${number} of the file`,
    url: typeof url === 'string' ? sentence(url) : '',
    message: issueText(parsed.error),
  });
}

/** `site:12` in readable form: the id that the other dashboard shows. */
export function placeOf(key: string): string {
  return sentence(key.replace(':', ' '));
}

/** Other records matter less than sites: unusable ones are reported and left out. */
function takeOther(fleet: Fleet, record: RawRecord): void {
  const foreign = fleet.source.product === 'mainwp';
  const keep = <T extends z.ZodTypeAny>(what: string, schema: T, value: unknown, list: z.output<T>[]) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) list.push(parsed.data);
    else fleet.warnings.push(`A ${what} cannot be imported${nameOf(value)}: ${issueText(parsed.error)}`);
  };
  switch (record.type) {
    case 'tag':
      keep('tag', fleetTag(), foreign ? readTag(record) : record.tag, fleet.tags);
      break;
    case 'client':
      keep('client', fleetClient(), foreign ? readClient(record) : record.client, fleet.clients);
      break;
    case 'cost':
      keep('cost', fleetCost(), withoutKeys(foreign ? readCost(record) : record.cost), fleet.costs);
      break;
    case 'ignored': {
      const items = foreign ? readIgnored(record) : (fleetGlobal().safeParse(record).data?.ignored ?? []);
      for (const item of items) keep('ignored update', fleetIgnored(), item, fleet.ignored);
      break;
    }
    default:
      // From a newer version: its purpose is unknown here.
      fleet.warnings.push(`Records of the kind ${JSON.stringify(sentence(String(record.type)))} are unknown.`);
  }
}

/** A cost without targets covers nothing; absent lists count as empty. */
function withoutKeys(cost: unknown): unknown {
  return { sites: [], tags: [], clients: [], ...(anyRecord().safeParse(cost).data ?? {}) };
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
  const name = anyRecord().safeParse(value).data?.name;
  return typeof name === 'string' && name !== '' ? ` (${sentence(name)})` : '';
}

/** The first problem, with its field. Values are not quoted: they may be secret. */
function issueText(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'cannot be used.';
  const message = issue.message.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  return `${issue.path.join('.')}: ${message.replace(/\.$/, '')}.`;
}
