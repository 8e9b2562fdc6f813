/** Named components of the OpenAPI description: records, error responses, parameters, security schemes, and groups. */

import { client, clientListItem } from '../../../schemas/client.js';
import { comment } from '../../../schemas/comment.js';
import { clientCostEntry, costRecord } from '../../../schemas/cost.js';
import { mailSetting } from '../../../schemas/mail.js';
import { galleryImage, postDetail, postItem, postRef } from '../../../schemas/post.js';
import { siteListItem, siteOfOwner } from '../../../schemas/site.js';
import { tag, tagListItem } from '../../../schemas/tag.js';
import { appliedEntry } from '../../../schemas/update.js';
import type { z } from '../../../schemas/zod.js';
import { type JsonSchema, jsonSchema } from '../../operation/contract.js';
import { auditDetailShape, auditResultShape, auditSettingsShape } from './schemas/audits.js';
import {
  alertShape,
  beatShape,
  certificateShape,
  domainShape,
  incidentShape,
  monitorBasicShape,
  monitorCheckShape,
  monitorDetailShape,
  monitorOwnShape,
  monitorSettingsShape,
  monitorShape,
} from './schemas/monitoring.js';
import {
  abandonedShape,
  actedSite,
  changeShape,
  errorShape,
  failedShape,
  keyShape,
  namedShape,
  pluginShape,
  securityShape,
  siteShape,
  themeShape,
  visitShape,
} from './schemas/records.js';
import {
  bucketDetailShape,
  bucketShape,
  taskDetailShape,
  taskShape,
  timeSettingsShape,
  trackerClientShape,
} from './schemas/time-tracker.js';
import { ignoredByTypeShape, offersOfSite, slugResult } from './schemas/updates.js';

/** A record comes after the records it contains, so that it refers to them by name. */
const RECORDS: Readonly<Record<string, () => z.ZodTypeAny>> = {
  Error: errorShape,
  Failed: failedShape,
  SiteSummary: siteListItem,
  SiteOfOwner: siteOfOwner,
  NamedExtension: namedShape,
  Plugin: pluginShape,
  Theme: themeShape,
  Site: siteShape,
  SiteResult: actedSite,
  SiteVisit: visitShape,
  SiteSecurity: securityShape,
  AbandonedExtension: abandonedShape,
  Change: changeShape,
  ApiKey: keyShape,
  ClientSummary: clientListItem,
  Client: client,
  TagSummary: tagListItem,
  Tag: tag,
  Cost: costRecord,
  CostOfClient: clientCostEntry,
  Mail: mailSetting,
  Comment: comment,
  Post: postItem,
  GalleryImage: galleryImage,
  PostDetail: postDetail,
  PostReference: postRef,
  Updates: offersOfSite,
  IgnoredUpdates: ignoredByTypeShape,
  AppliedUpdate: appliedEntry,
  UpdateResult: slugResult,
  MonitorSummary: monitorBasicShape,
  Monitor: monitorShape,
  Heartbeat: beatShape,
  MonitorDetail: monitorDetailShape,
  MonitorDefaults: monitorSettingsShape,
  MonitorSettings: monitorOwnShape,
  MonitorCheck: monitorCheckShape,
  Incident: incidentShape,
  Certificate: certificateShape,
  Domain: domainShape,
  Alert: alertShape,
  Audit: auditResultShape,
  AuditDetail: auditDetailShape,
  AuditSettings: auditSettingsShape,
  Task: taskShape,
  TaskDetail: taskDetailShape,
  Bucket: bucketShape,
  BucketDetail: bucketDetailShape,
  TrackerClient: trackerClientShape,
  TrackerSettings: timeSettingsShape,
};

/** Replaces the named records inside schemas with references. */
export interface Naming {
  /** The schema with references in place of named records. */
  named(schema: JsonSchema): JsonSchema;
  schemas: Readonly<Record<string, JsonSchema>>;
}

export function nameRecords(): Naming {
  const names = new Map<string, string>();
  const schemas: Record<string, JsonSchema> = {};

  /**
   * Keeps the description outside the reference: it belongs to the place of use, and OpenAPI 3.1 allows both together.
   */
  function named(schema: JsonSchema): JsonSchema {
    const inner = within(schema);
    if (!RECORD_FORMS.some((form) => form in inner)) return inner;
    const { description, ...record } = inner;
    const name = names.get(JSON.stringify(record));
    if (name === undefined) return inner;
    const reference = { $ref: `#/components/schemas/${name}` };
    return description === undefined ? reference : { ...reference, description };
  }

  function within(schema: JsonSchema): JsonSchema {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, DATA.has(key) ? value : part(value)]));
  }

  function part(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(part);
    return typeof value === 'object' && value !== null ? named(value as JsonSchema) : value;
  }

  for (const [name, shape] of Object.entries(RECORDS)) {
    const { description, ...record } = within(jsonSchema(shape()));
    names.set(JSON.stringify(record), name);
    schemas[name] = description === undefined ? record : { description, ...record };
  }
  return { named, schemas };
}

/** A schema with one of these may be a record; scalars are not looked up. */
const RECORD_FORMS = ['properties', 'items', 'anyOf'] as const;

/** Members whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'required', 'example', 'examples']);

/** Meaning of each error status, for all rows. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'A parameter is missing, wrong or unknown. `data.params` has the reason for each.',
  401: 'The key is missing or not accepted.',
  403: 'The key lacks the permission, or access to the site.',
  404: 'What the call names does not exist.',
  409: 'The current state does not allow it, or a call with the same Idempotency-Key is still running.',
  413: 'The call is too large.',
  415: 'The body is not JSON.',
  422: 'The Idempotency-Key belongs to another call, or the call cannot be processed.',
  429: 'Too many requests or failed logins. `Retry-After` says when to try again.',
  500: 'Something unexpected went wrong in Sitefleet.',
  501: 'The module is disabled.',
  502: 'The site answered with an error.',
  503: 'The site or the database does not answer.',
  504: 'The site is slow. The job in `data.job_id` continues the work; until it ends, repeating the call returns the same job.',
};

const header = (description: string, schema: JsonSchema) => ({ description, schema });
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': header('Bearer realm="svc"', { type: 'string' }) },
  429: { 'Retry-After': header('Seconds.', { type: 'integer' }) },
  503: { 'Retry-After': header('Seconds.', { type: 'integer' }) },
};

const ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** Responses by status, and `Error` for any other. */
export const RESPONSES = {
  ...Object.fromEntries(
    Object.entries(REFUSALS).map(([status, description]) => {
      const headers = HEADERS[Number(status)];
      return [`Error${status}`, { description, ...(headers === undefined ? {} : { headers }), content: ERROR_CONTENT }];
    }),
  ),
  Error: { description: 'Refused or failed. The HTTP status is `data.status`.', content: ERROR_CONTENT },
};

export const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Identifies this call: a repeat within 24 hours gets the first answer and runs nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  Fields: {
    name: '_fields',
    in: 'query',
    required: false,
    description:
      'Return only these fields of each item of `data`, comma-separated; a dot selects within one: id,stats.health_score. Fields described as required are then missing.',
    schema: { type: 'array', items: { type: 'string' } },
    style: 'form',
    explode: false,
  },
};

export const SECURITY_SCHEMES = {
  key: { type: 'http', scheme: 'bearer', description: "An API key's token." },
  login: { type: 'http', scheme: 'basic', description: 'User name and password.' },
};

/** Descriptions of the route groups; a group is the first segment of the path. */
export const GROUPS: Readonly<Record<string, string>> = {
  'rest-api': 'API keys.',
  sites: 'Sites, their plugins and themes.',
  comments: 'Comments on the sites.',
  'ssl-monitor': "The sites' certificates.",
  'domain-monitor': 'Domain registrations.',
  'perf-audit': 'Performance audits.',
  'pro-reports': 'Figures and activity for reports.',
  'time-tracker': 'Tasks, their timers, and hour buckets.',
  settings: 'Settings of the service, and tools.',
  monitors: 'Uptime monitors.',
  posts: 'Posts on the sites.',
  updates: 'Listing, applying and ignoring updates.',
  rollouts: 'Plans of updates, carried out in waves that halt when something breaks.',
  policies: 'What is updated automatically, when, and who has to approve it.',
  fleet: 'The whole fleet: what needs attention, sites by any filter, updates by item.',
  actions: 'The log of everything done through Sitefleet.',
  approvals: 'Changes that wait for the approval of a person.',
  backups: 'Backups of sites: make, verify, prove and restore them.',
  guidance: 'What to watch out for before sites are changed.',
  jobs: 'Progress of queued work.',
  clients: 'Clients and their sites.',
  tags: 'Tags of sites.',
  costs: 'Costs of sites and clients.',
  alerts: 'Alerts from monitors, certificates and domains, and their recipients.',
  incidents: 'Times when sites were down, and whether a person has acknowledged them.',
  quarantine: 'Versions that broke a site, and where they are quarantined.',
  runs: 'Runs of updates: who updated what, and how it went.',
  vulnerabilities: 'Known vulnerabilities in what is installed.',
  users: 'People who log in to Sitefleet.',
};
