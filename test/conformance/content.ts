/**
 * Fixtures the conformance suite expects of a server besides the protocol: tools, prompts and resources with fixed
 * names.
 */

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const text = (message: string) => ({ type: 'text' as const, text: message });
export const said = (message: string) => ({ content: [text(message)] });
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
});

/** Tools that answer without elicitation or notifications. */
export const PLAIN = {
  test_simple_text: said('This is a simple text response for testing.'),
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio' as const, data: SILENCE, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: { ...said('This tool intentionally returns an error for testing'), isError: true },
};

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** Entries of tools/list for these names. */
export function listed(names: readonly string[]) {
  return names.map((name) => ({ name, description: `Fixture ${name}.`, inputSchema: inputOf(name) }));
}

function inputOf(name: string): { type: 'object'; [more: string]: unknown } {
  const required = { test_sampling: 'prompt', test_elicitation: 'message' }[name];
  if (name === 'json_schema_2020_12_tool') return SCHEMA_2020_12 as { type: 'object' };
  if (required === undefined) return { type: 'object' };
  return { type: 'object', properties: { [required]: { type: 'string' } }, required: [required] };
}

export const PROMPT_ENTRIES = [
  { name: 'test_simple_prompt', description: 'Fixture.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'Fixture.',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: name, required: true })),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'Fixture.',
    arguments: [{ name: 'resourceUri', description: 'Address.', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'Fixture.' },
];

const user = <T>(content: T) => ({ role: 'user' as const, content });

/** A fixture prompt; undefined for any other name. */
export function promptOf(name: string, args: Record<string, string> = {}) {
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [user(text('This is a simple prompt for testing.'))] };
    case 'test_prompt_with_arguments':
      return { messages: [user(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`))] };
    case 'test_prompt_with_embedded_resource':
      return {
        messages: [
          user(embedded(args.resourceUri ?? '', 'text/plain', 'Embedded resource content for testing.')),
          user(text('Please process the embedded resource above.')),
        ],
      };
    case 'test_prompt_with_image':
      return { messages: [user(image), user(text('Please analyze the image above.'))] };
    default:
      return undefined;
  }
}

export const RESOURCE_ENTRIES = [
  { uri: 'test://static-text', name: 'static-text', description: 'Fixture.', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'Fixture.', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', description: 'Fixture.', mimeType: 'text/plain' },
];

/** A fixture resource; undefined for any other address. */
export function resourceOf(uri: string) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: data }] };
  }
  const texts: Record<string, string> = {
    'test://static-text': 'This is the content of the static text resource.',
    'test://watched-resource': 'Watched.',
  };
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PIXEL }] };
  const found = Object.hasOwn(texts, uri) ? texts[uri] : undefined;
  return found === undefined ? undefined : { contents: [{ uri, mimeType: 'text/plain', text: found }] };
}

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Steps of the progress fixture. */
export const STEPS = [0, 50, 100];
