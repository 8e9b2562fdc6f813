/** The OpenAPI description, generated from the rows that also validate requests, so the two cannot differ. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ALERT_KIND_NAMES, ALERT_KINDS, webhookBody } from '../../../schemas/alerts.js';
import { type JsonSchema, jsonSchema } from '../../operation/contract.js';
import { GROUPS, nameRecords, PARAMETERS, RESPONSES, SECURITY_SCHEMES } from './openapi-components.js';
import type { AnswerFile, HttpMethod, Route } from './route.js';

export interface OpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: { url: string }[];
  security: Record<string, never[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  /** Requests that are posted to alert recipients, by alert kind. */
  webhooks: Record<string, unknown>;
  components: Record<string, unknown>;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
  security?: Record<string, never[]>[];
  'x-permission': string;
  'x-module'?: string;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  style?: 'form';
  explode?: false;
}

const DESCRIPTION = `Manages a fleet of WordPress sites. Every call carries \`Authorization: Bearer <token>\`.

Answers are \`{"success": 1, "message", "total", "data", …}\`; errors \`{"success": 0, "code", "message", "data": {"status", …}}\` with the same HTTP status. \
Lists give their size in \`total\`, \`X-Total\` and \`X-Total-Pages\`. Writes may carry an \`Idempotency-Key\`: a repeat within 24 hours gets the first answer. \
Stored reads carry an \`ETag\`. With \`_fields=id,name\` in the query, an answer has only these fields of \`data\`. Unknown parameters are refused. Calls on very many sites answer \`"queued": true\` with a \`status_url\`. \
\`GET /v2/events\` streams events as they happen (server-sent events): \`job\`, \`site\`, \`alert\`, \`updates\`.`;

/** Builds the description; yields after each row to let other requests run. @param version of the program */
export async function openApi(routes: readonly Route[], version: string): Promise<OpenApi> {
  const paths: OpenApi['paths'] = {};
  const naming = nameRecords();
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    // Once for all methods of the row: converting schemas is the expensive part.
    const params = describedParams(route);
    const answer = answerSchema(route);
    const answers = responses(route, params, naming.named(answer));
    const shared = [...(hasData(answer) ? [FIELDS] : []), ...(route.change !== null ? [REPEAT] : [])];
    for (const method of route.on) path[method.toLowerCase()] = operation(route, method, params, shared, answers);
    await nextTurn();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sitefleet REST API',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/v2' }],
    security: [{ key: [] }],
    tags: [...new Set(routes.map(groupOf))].map((name) => ({ name, description: GROUPS[name] ?? '' })),
    paths,
    webhooks: describedWebhooks(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: PARAMETERS,
      responses: RESPONSES,
      schemas: naming.schemas,
    },
  };
}

const WEBHOOK_HEADERS = {
  'webhook-id': 'The same for every attempt at one message.',
  'webhook-timestamp': 'When it was sent, in seconds since the epoch.',
  'webhook-signature': "`v1,` and the signature as base64, made with the recipient's secret (Standard Webhooks).",
};

function describedWebhooks(): OpenApi['webhooks'] {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  return Object.fromEntries(
    ALERT_KIND_NAMES.map((kind) => [
      kind,
      {
        post: {
          operationId: `webhook_${kind.replace('.', '_')}`,
          summary: ALERT_KINDS[kind].about,
          tags: ['alerts'],
          // Receivers do not get our key: they check the signature.
          security: [],
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(webhookBody(kind)) } } },
          responses: {
            '2XX': { description: 'Accepted.' },
            '410': { description: 'Gone: the recipient is disabled.' },
            default: { description: 'Not accepted. It is retried over three days.' },
          },
        },
      },
    ]),
  );
}

/** The parameters of a row, with their aliases in the descriptions. */
function describedParams({ described, naming }: Route): JsonSchema {
  const schema = jsonSchema(described());
  const properties = schema.properties as Record<string, JsonSchema> | undefined;
  for (const [alias, name] of naming().aliases) {
    const own = properties?.[name];
    if (own === undefined) continue;
    const { description } = own;
    own.description = `${typeof description === 'string' ? `${description} ` : ''}Also accepted as ${alias}.`;
  }
  return schema;
}

/** First segment of the path: the noun a route belongs to. */
function groupOf(route: Route): string {
  return route.path.split('/')[1] ?? '';
}

function operation(
  route: Route,
  method: HttpMethod,
  schema: JsonSchema,
  shared: readonly object[],
  answers: Operation['responses'],
): Operation {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const own = Object.keys(properties).filter((name) => !route.pathParams.includes(name));
  const inBody = method !== 'GET' && method !== 'DELETE';
  const path = route.pathParams.map((name) => parameter(name, 'path', properties[name] ?? {}, true));
  const query = inBody ? [] : own.map((name) => parameter(name, 'query', properties[name] ?? {}, required.has(name)));
  return {
    operationId: operationId(route, method),
    summary: route.summary,
    ...(route.description === '' ? {} : { description: route.description }),
    tags: [groupOf(route)],
    parameters: [...path, ...query, ...shared] as Parameter[],
    ...(inBody && own.length > 0 ? { requestBody: requestBody(route, own, properties, required) } : {}),
    responses: answers,
    ...(route.login === 'either' ? { security: [{ key: [] }, { login: [] }] } : {}),
    'x-permission': route.needs,
    ...(route.module === undefined ? {} : { 'x-module': route.module }),
  };
}

function parameter(name: string, where: 'path' | 'query', schema: JsonSchema, required: boolean): Parameter {
  const { description, ...rest } = schema;
  return {
    name,
    in: where,
    required,
    ...(typeof description === 'string' ? { description } : {}),
    schema: rest,
    ...(rest.type === 'array' ? { style: 'form' as const, explode: false as const } : {}),
  };
}

function requestBody(
  route: Route,
  names: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
  required: ReadonlySet<string>,
) {
  const needed = names.filter((name) => required.has(name));
  return {
    required: route.bodyRequired || needed.length > 0,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
          ...(needed.length > 0 ? { required: needed } : {}),
          additionalProperties: false,
        },
      },
    },
  };
}

function responses(route: Route, params: JsonSchema, schema: JsonSchema): Operation['responses'] {
  const cacheable = !route.engine && route.on.includes('GET');
  const example = route.example === undefined ? {} : { example: { success: 1, ...route.example } };
  return {
    '200': {
      description: 'Done.',
      content:
        route.streams === undefined
          ? { 'application/json': { schema, ...example }, ...fileTypes(params) }
          : { [route.streams]: { schema: { type: 'string', format: 'binary' } } },
    },
    ...(cacheable ? { '304': { description: 'Not changed since the ETag in If-None-Match.' } } : {}),
    ...Object.fromEntries(
      refusalsOf(route).map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
    ),
    default: { $ref: '#/components/responses/Error' },
  };
}

/**
 * Error statuses that a row can return: from its checks, its path parameters, its module, and the sites it contacts.
 */
function refusalsOf(route: Route): number[] {
  const write = route.change !== null;
  const found = new Set([400, 401, 403, 429, 500, 503, ...route.fails]);
  if (route.pathParams.length > 0) found.add(404);
  if (write) for (const status of [409, 413, 415, 422]) found.add(status);
  if (route.module !== undefined) found.add(501);
  if (route.live) for (const status of [409, 502]) found.add(status);
  return [...found].sort((a, b) => a - b);
}

const FILE_TYPES: Readonly<Record<string, AnswerFile['type']>> = {
  html: 'text/html',
  csv: 'text/csv',
  jsonl: 'application/x-ndjson',
};

/** Media types of the files that a row may return, derived from the choices of its `format` parameter. */
function fileTypes(params: JsonSchema): Record<string, unknown> {
  const format = (params.properties as Record<string, JsonSchema> | undefined)?.format;
  const choices = Array.isArray(format?.enum) ? (format.enum as unknown[]) : [];
  const kinds = Object.keys(FILE_TYPES).filter((kind) => choices.includes(kind));
  return Object.fromEntries(kinds.map((kind) => [FILE_TYPES[kind], { schema: { type: 'string' } }]));
}

function answerSchema(route: Route): JsonSchema {
  const own = jsonSchema(route.returns());
  const { anyOf, ...rest } = own;
  return Array.isArray(anyOf) ? { ...rest, anyOf: (anyOf as JsonSchema[]).map(enveloped) } : enveloped(own);
}

/** Whether an answer has `data`, to which `_fields` applies. */
function hasData({ anyOf, properties }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(hasData);
  return (properties as JsonSchema | undefined)?.data !== undefined;
}

/** Merges the envelope into a schema. Not by `allOf`: each side would refuse the members of the other as undeclared. */
function enveloped({ properties, required, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    properties: { ...ENVELOPE, ...(properties as JsonSchema | undefined) },
    required: ['success', ...((required as string[] | undefined) ?? [])],
  };
}

/** `PUT /sites/{id_or_domain}/edit` → `putSitesByIdOrDomainEdit`. */
function operationId(route: Route, method: HttpMethod): string {
  const words = route.path
    .split('/')
    .filter((part) => part !== '')
    .flatMap((part) => (part.startsWith('{') ? ['by', ...part.slice(1, -1).split('_')] : part.split(/[^A-Za-z0-9]+/)));
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return method.toLowerCase() + words.map(capital).join('');
}

const REPEAT = { $ref: '#/components/parameters/IdempotencyKey' };
const FIELDS = { $ref: '#/components/parameters/Fields' };

/** Members that any answer may have in addition to its own. */
const ENVELOPE: JsonSchema = {
  success: { type: 'number', const: 1 },
  message: { type: 'string' },
  errors: { $ref: '#/components/schemas/Failed' },
  site: { $ref: '#/components/schemas/SiteSummary' },
};
