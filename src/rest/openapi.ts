/** The OpenAPI description, generated from the rows that also validate requests, so the two cannot differ. */

import { z } from '../../schemas/zod.js';
import { type JsonSchema, jsonSchema } from '../operation/contract.js';
import type { HttpMethod, Route } from './route.js';
import { simpleSiteShape } from './schemas/records.js';

export interface OpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  security: Record<string, never[]>[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
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
Lists say their size in \`total\`, \`X-Total\` and \`X-Total-Pages\`. Writes may carry an \`Idempotency-Key\`: a repeat within 24 hours gets the first answer. \
Stored reads carry an \`ETag\`. With \`_fields=id,name\` a read answers only these members of \`data\`. Calls on very many sites answer \`"queued": true\` with a \`status_url\`.`;

/** @param version of the program */
export function openApi(routes: readonly Route[], version: string): OpenApi {
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    // Once for all methods of the row: converting schemas is what takes the time here.
    const params = jsonSchema(route.params);
    const answers = responses(route, params);
    for (const method of route.on) path[method.toLowerCase()] = operation(route, method, params, answers);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sitefleet REST API', version, description: DESCRIPTION },
    servers: [{ url: '/v2' }],
    security: [{ key: [] }],
    tags: [...new Set(routes.map(groupOf))].map((name) => ({ name })),
    paths,
    components: COMPONENTS,
  };
}

/** First segment of the path: the noun a route belongs to. */
export function groupOf(route: Route): string {
  return route.path.split('/')[1] ?? '';
}

function operation(route: Route, method: HttpMethod, schema: JsonSchema, answers: Operation['responses']): Operation {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const own = Object.keys(properties).filter((name) => !route.pathParams.includes(name));
  const inBody = method !== 'GET' && method !== 'DELETE';
  const path = route.pathParams.map((name) => parameter(name, 'path', properties[name] ?? {}, true));
  const query = inBody ? [] : own.map((name) => parameter(name, 'query', properties[name] ?? {}, required.has(name)));
  const repeat = route.needs === 'write' ? [REPEAT] : [];
  return {
    operationId: operationId(route, method),
    summary: route.summary,
    ...(route.description === '' ? {} : { description: route.description }),
    tags: [groupOf(route)],
    parameters: [...path, ...query, ...repeat] as Parameter[],
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

function responses(route: Route, params: JsonSchema): Operation['responses'] {
  const cacheable = !route.engine && route.on.includes('GET');
  const example = route.example === undefined ? {} : { example: envelope(route.example) };
  return {
    '200': {
      description: 'Done.',
      content: { 'application/json': { schema: answerSchema(route), ...example }, ...fileTypes(params) },
    },
    ...(cacheable ? { '304': { description: 'Not changed since the ETag of If-None-Match.' } } : {}),
    default: { $ref: '#/components/responses/Error' },
  };
}

/** Rows that answer files tell so by the choices of their `format`. */
function fileTypes(params: JsonSchema): Record<string, unknown> {
  const format = (params.properties as Record<string, JsonSchema> | undefined)?.format;
  const choices = Array.isArray(format?.enum) ? (format.enum as unknown[]) : [];
  const kinds = ['html', 'csv'].filter((kind) => choices.includes(kind));
  return Object.fromEntries(kinds.map((kind) => [`text/${kind}`, { schema: { type: 'string' } }]));
}

function envelope(example: Record<string, unknown>): Record<string, unknown> {
  return { success: 1, ...example };
}

function answerSchema(route: Route): JsonSchema {
  const own = jsonSchema(route.returns());
  const { anyOf, ...rest } = own;
  return Array.isArray(anyOf) ? { ...rest, anyOf: (anyOf as JsonSchema[]).map(enveloped) } : enveloped(own);
}

/** Not `allOf` with the envelope: each side would refuse the members of the other as undeclared. */
function enveloped({ properties, required, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    properties: { ...ENVELOPE, ...named((properties ?? {}) as JsonSchema) },
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

const errorShape = z.object({
  success: z.literal(0),
  code: z.string(),
  message: z.string(),
  data: z
    .object({
      status: z.number().int(),
      field: z.string().optional(),
      advice: z.string().optional().describe('What the caller can do next.'),
    })
    .passthrough(),
});

const SITE = jsonSchema(simpleSiteShape);
const SITE_TEXT = JSON.stringify(SITE);
const SITE_REF = { $ref: '#/components/schemas/Site' };

/** The site that an answer is about stands in most of them: it is named instead of repeated. */
function named(properties: JsonSchema): JsonSchema {
  return JSON.stringify(properties.site) === SITE_TEXT ? { ...properties, site: SITE_REF } : properties;
}

const FAILED = jsonSchema(
  z
    .array(z.object({ code: z.string(), message: z.string() }).passthrough())
    .describe('Items that failed, while others succeeded.'),
);

/** Members that any answer may have beside its own. */
const ENVELOPE: JsonSchema = {
  success: { type: 'number', const: 1 },
  message: { type: 'string' },
  errors: { $ref: '#/components/schemas/Failed' },
  site: SITE_REF,
};

const COMPONENTS = {
  securitySchemes: {
    key: { type: 'http', scheme: 'bearer', description: 'Token of an API key.' },
    login: { type: 'http', scheme: 'basic', description: 'User name and password.' },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'Names this call, so that a repeat within 24 hours gets the first answer and runs nothing.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  schemas: { Error: jsonSchema(errorShape), Failed: FAILED, Site: SITE },
  responses: {
    Error: {
      description: 'Refused or failed. The HTTP status is `data.status`.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  },
};
