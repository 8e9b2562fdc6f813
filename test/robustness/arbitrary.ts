/** Values that callers should not send, for property tests. */

import fc from 'fast-check';

/** Text as found in attacks and accidents. */
export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 3, arbitrary: fc.string({ maxLength: 40 }) },
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udc00x',
    '__proto__',
    'constructor',
    'toString',
    '[object Object]',
    'NaN',
    '-0',
    '1e309',
    '99999999999999999999',
    '0x10',
    "' OR 1=1 --",
    '"; DROP TABLE site; --',
    '<script>alert(1)</script>',
    '../../../../etc/passwd',
    '..%2f..%2f',
    '%00',
    '%',
    '%zz',
    '\u202e\u200b',
    'http://',
    'http://127.0.0.1:9/',
    'http://user:pass@127.0.0.1:9/',
    'http://[::1]:9/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'a@b',
    '2024-02-30',
    '0000-00-00',
    '*',
    'all',
    'null',
    'x'.repeat(5000),
  ),
);

const nastyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -3, max: 5 }),
  fc.constantFrom(-0, 0.5, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e308, Number.MIN_VALUE),
);

/** Any JSON. */
export const nasty: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: nastyText },
  { weight: 3, arbitrary: nastyNumber },
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.oneof(nastyText, nastyNumber, fc.constant(null)), { maxLength: 5 }),
  fc.dictionary(nastyText, fc.oneof(nastyText, nastyNumber), { maxKeys: 3 }),
  fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown),
  fc.constant(Array.from({ length: 3000 }, (_, i) => i)),
  fc.constant(deep(2000)),
);

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

/** An object with some of the names, mostly sensible values and a few of the above, occasionally with an extra name. */
export function almost(
  sensible: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(sensible).map(
    ([name, good]) =>
      [
        name,
        fc.oneof(
          { weight: 5, arbitrary: good },
          { weight: 2, arbitrary: nasty },
          { weight: 3, arbitrary: fc.constant(undefined) },
        ),
      ] as const,
  );
  const extra = fc.oneof(
    { weight: 9, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(nastyText, nasty, { maxKeys: 2 }) },
  );
  return fc.tuple(fc.record(Object.fromEntries(fields)), extra).map(([object, more]) =>
    // Through JSON, as received: it may carry an own __proto__.
    JSON.parse(JSON.stringify({ ...object, ...more })),
  );
}
