/** What a person is shown of a call: all of it, but for what the schemas declare to be a secret, or the login of an address. */

import { expect, it } from 'vitest';
import type { z } from '../../schemas/zod.js';
import { definitionOf } from '../../schemas/zod-internals.js';
import { callInput, wholeInput } from '../../src/domain/action-log/call-input.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { operations } from '../../tools/index.js';

const LOGIN = 'ada:clear-1';
const ADDRESS = `https://${LOGIN}@shop.example/`;
const shown = (input: object, operation = 'POST /x'): string => wholeInput(input, operation);
const logged = (input: object): string => callInput(input, 'POST /x');

const CHANGES = [
  ...operations.filter(({ change }) => change !== null).map((one) => ({ id: one.id, schema: one.input() })),
  ...routes.filter(({ change }) => change !== null).map((one) => ({ id: one.key, schema: one.params() })),
];

interface Declared {
  /** From the input to it. */
  path: string[];
  kind: string;
}

/** Each text and each record that an input may have. */
function declaredIn(schema: z.ZodTypeAny, path: string[] = []): Declared[] {
  const { typeName, shape, innerType, type, in: parsed, options = [], ...rest } = definitionOf(schema);
  const { schema: refined, valueType } = rest as { schema?: z.ZodTypeAny; valueType?: z.ZodTypeAny };
  if (typeName === 'ZodObject' && shape !== undefined)
    return Object.entries(shape()).flatMap(([name, member]) => declaredIn(member, [...path, name]));
  if (typeName === 'ZodRecord') return [{ path, kind: 'record' }, ...inRecord(valueType, path)];
  if (typeName === 'ZodString') return [{ path, kind: 'text' }];
  const inner = [innerType, typeof type === 'object' ? type : undefined, parsed, refined, ...options];
  return inner.flatMap((one) => (one === undefined ? [] : declaredIn(one, path)));
}

const inRecord = (values: z.ZodTypeAny | undefined, path: string[]) =>
  values === undefined ? [] : declaredIn(values, [...path, 'secret_of_the_caller']);

const input = (path: readonly string[], value: unknown): object =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

/** By its name, an address or what names sites. */
const LIKE_ADDRESS = /(^|_)(url|uri|link|src|image|host|endpoint|webhook|site|sites|domain|domains|id_or_domain)$/;
const SECRETS = /pass|secret|token|api_key|key_identifier|http_user|unique_?id/;

it('knows each parameter that is declared to be an address, and shows any other text whole', () => {
  for (const { id, schema } of CHANGES)
    for (const { path, kind } of declaredIn(schema)) {
      if (kind !== 'text' || path.some((name) => SECRETS.test(name) && name !== 'secret_of_the_caller')) continue;
      const text = shown(input(path, ADDRESS), id);
      expect([id, path, text.includes(LOGIN)]).toEqual([id, path, !LIKE_ADDRESS.test(path.at(-1) ?? '')]);
    }
});

it('shows records whole, as the caller chooses their names', () => {
  const records = CHANGES.flatMap(({ id, schema }) => declaredIn(schema).map((one) => ({ id, ...one }))).filter(
    ({ kind }) => kind === 'record',
  );
  expect(new Set(records.map(({ path }) => path.join('.')))).toEqual(
    new Set(['post_custom', 'values', 'payment_methods']),
  );
  for (const { id, path } of records) {
    const record = { secret_header_code: ADDRESS, token: ['a', 'b'], url: ADDRESS };
    expect([id, JSON.parse(shown(input(path, record), id))]).toEqual([id, input(path, record)]);
  }
});

it('says how much it leaves out of an address, of which everything else is shown', () => {
  const shortcode = 'https:[run_snippet\tid=7 code=eval()]@shop.example/';
  expect(JSON.parse(shown({ url: shortcode }))).toEqual({ url: 'https:[redacted: 30 characters]@shop.example/' });
  expect(JSON.parse(shown({ url: `https:ada:clear-1@shop.example/#<script> more` }))).toEqual({
    url: 'https:[redacted: 11 characters]@shop.example/#<script> more',
  });
  expect(shown({ site_ids_or_domains: [ADDRESS] })).toBe(
    '{"site_ids_or_domains":["https://[redacted: 11 characters]@shop.example/"]}',
  );
  // The address of a chat is the key to it; a name beside it is not.
  const chat = { name: '//chat.example/not-hidden', url: 'https://hooks.slack.example/T00/lemur-66' };
  expect(JSON.parse(shown(chat, 'POST /alerts/recipients/add'))).toEqual({
    name: chat.name,
    url: 'https://hooks.slack.example/[redacted: 12 characters]',
  });
});

it('leaves declared secrets out, in lists of items, too', () => {
  const create = [{ url: ADDRESS, adminpassword: 'swordfish-3', http_user: 'bea' }];
  expect(JSON.parse(shown({ create }))).toEqual({
    create: [
      {
        url: 'https://[redacted: 11 characters]@shop.example/',
        adminpassword: '[redacted]',
        http_user: '[redacted]',
      },
    ],
  });
});

it('is more than what the log keeps, which others read', () => {
  const post = { post_content: ADDRESS, post_custom: { colour: 'red' }, notes: `See ${ADDRESS}` };
  expect(JSON.parse(shown(post))).toEqual(post);
  expect(JSON.parse(logged(post))).toEqual({
    post_content: 'https://[redacted]@shop.example/',
    post_custom: { colour: '[redacted]' },
    notes: 'See https://[redacted]@shop.example/',
  });
});
