/** The parsers of untrusted input: total, bounded, and faithful to what they imitate. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedUrl, urlReference } from '../../src/domain/sites/urls.js';
import { compareVersions } from '../../src/domain/sites/versions.js';
import { ChildFailure, type ChildParams } from '../../src/outbound/child/port.js';
import { encodeForm } from '../../src/outbound/child/wire/form.js';
import { readFrame } from '../../src/outbound/child/wire/frame.js';
import { ServiceError } from '../../src/runtime/errors.js';
import { queryInput } from '../../src/surfaces/abilities/query.js';
import { expectToGrowLinearly } from '../support/growth.js';
import { nasty, nastyText } from './arbitrary.js';
import { SOAK, shortOrLong } from './soak.js';

const options = { seed: SOAK ? Date.now() % 2 ** 31 : 8, numRuns: shortOrLong(300, 30_000) };

/** The result, or undefined when refused with a catalogue error. Anything else fails the test. */
function orRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).status).toBe(400);
    return undefined;
  }
}

describe('versions', () => {
  const table = JSON.parse(readFileSync(new URL('./php-versions.json', import.meta.url), 'utf8')) as {
    versions: string[];
    rows: string[];
  };

  it(`are ordered as PHP orders them, in ${table.versions.length ** 2} pairs`, () => {
    const signs = ['<', '=', '>'];
    const wrong: string[] = [];
    for (const [i, a] of table.versions.entries())
      for (const [j, b] of table.versions.entries()) {
        const ours = signs[compareVersions(a, b) + 1];
        // We treat equal texts as equal versions; PHP does not for one that ends in a dot.
        const php = i === j ? '=' : table.rows[i]?.[j];
        if (ours !== php) wrong.push(`${a} ${b}: ${ours}`);
      }
    expect(wrong).toEqual([]);
  });

  it('of any kind have an order that does not depend on who comes first', () => {
    // Versions as they are usually written; PHP contradicts itself on others, such as those that end in a dot.
    const version = fc.stringMatching(/^[0-9a-z]([0-9a-z.+_-]{0,18}[0-9a-z])?$/);
    fc.assert(
      fc.property(nastyText, nastyText, (a, b) => {
        expect([-1, 0, 1]).toContain(compareVersions(a, b));
        expect(compareVersions(a, a)).toBe(0);
      }),
      options,
    );
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(compareVersions(a, b)).toBe(-compareVersions(b, a) + 0);
        expect(compareVersions(a, a)).toBe(0);
      }),
      options,
    );
  });

  it('of a megabyte take as much time as their length, not its square', () => {
    expectToGrowLinearly((length) => {
      for (const part of ['1.', 'a', '9', '-', '1a', '.'])
        compareVersions(part.repeat(length), part.repeat(length + 1));
    }, 20_000);
  });
});

describe('site URLs', () => {
  const url = fc.oneof(
    nastyText,
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.tuple(fc.constantFrom('http://', 'https://', 'HTTP://', 'ftp://', '//', ''), nastyText).map((p) => p.join('')),
  );

  it('are stored in one form, without login, query and fragment', () => {
    fc.assert(
      fc.property(url, (text) => {
        const stored = orRefused(() => storedUrl(text));
        if (stored === undefined) return;
        const parsed = new URL(stored.url);
        expect([parsed.username, parsed.password, parsed.search, parsed.hash]).toEqual(['', '', '', '']);
        expect(stored.url.endsWith('/')).toBe(true);
        expect(stored.url_key).not.toMatch(/^www\.|^https?:/);
        expect(storedUrl(stored.url)).toEqual(stored);
        expect(urlReference(stored.url)).toEqual({ exact: stored.url, url_key: stored.url_key });
        expect(urlReference(stored.url_key)?.url_key).toBe(stored.url_key);
      }),
      options,
    );
  });

  it('that name nothing are null, never an error', () => {
    fc.assert(
      fc.property(url, (text) => {
        const found = urlReference(text);
        if (found !== null) expect(found.url_key).not.toBe('');
      }),
      options,
    );
  });
});

describe('the query string', () => {
  const schema = { type: 'object', properties: { types: { type: 'array' }, page: { type: 'integer' } } };
  const key = fc.oneof(
    fc.constantFrom('page', 'types', '__proto__', 'constructor', 'prototype', 'input', ''),
    nastyText,
  );
  const part = fc.oneof(
    fc.tuple(key, nastyText).map(([k, v]) => [`input[${k}]`, v]),
    fc
      .tuple(key, fc.constantFrom('', '0', '3', '999999', '1e9', '__proto__'), nastyText)
      .map(([k, i, v]) => [`input[${k}][${i}]`, v]),
    fc.tuple(key, key, nastyText).map(([a, b, v]) => [`input[${a}][${b}][]`, v]),
    fc.tuple(nastyText, nastyText),
    nasty.map((value) => ['input', JSON.stringify(value) ?? '']),
  );

  it('gives an object or an error that names the field, and touches no prototype', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const query = new URLSearchParams(parts.map(([name = '', value = '']): [string, string] => [name, value]));
        const input = orRefused(() => queryInput(query, schema));
        if (input !== undefined) {
          expect(typeof input).toBe('object');
          expect(Array.isArray(input)).toBe(false);
          expect(JSON.stringify(input).length).toBeLessThan(100_000);
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect(({} as Record<string, unknown>)[0]).toBeUndefined();
      }),
      options,
    );
  });
});

describe('the frame', () => {
  const framed = (inner: Buffer | string) =>
    Buffer.concat([Buffer.from('<mainwp>'), Buffer.from(inner), Buffer.from('</mainwp>')]);
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    nasty.map((value) => framed(Buffer.from(JSON.stringify(value) ?? 'null').toString('base64'))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => framed(Buffer.from(bytes).toString('base64'))),
    nastyText.map((text) => framed(text)),
    fc.constantFrom('<mainwp>', '</mainwp>', '<mainwp></mainwp>', '<main').map((text) => Buffer.from(text)),
  );

  it('is read, or missing, or a failure with a name, whatever the body', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        try {
          const value = readFrame(Buffer.concat(pieces));
          expect(value === undefined || JSON.stringify(value) !== undefined).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ChildFailure);
          expect((error as ChildFailure).kind).toBe('bad_answer');
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      options,
    );
  });

  it('ends where the next begins: nothing is decoded twice', () => {
    const twice = (between: string) => Buffer.from(`<mainwp>ImFiZZ${between}Y2Qi</mainwp>`);
    // Base64 is read without what is none of it, so this opening could be part of a text.
    expect(readFrame(twice('mainwp'))).toMatch(/^ab.*cd$/s);
    expect(() => readFrame(twice('<mainwp>'))).toThrow(ChildFailure);
  });

  it('gives back what a site wrapped, with junk around it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.string(), fc.string(), (json, before, after) => {
        fc.pre(json !== '' && !`${before}${after}`.includes('mainwp>'));
        const body = Buffer.concat([
          Buffer.from(before),
          framed(Buffer.from(json).toString('base64')),
          Buffer.from(after),
        ]);
        expect(readFrame(body)).toEqual(JSON.parse(json));
      }),
      options,
    );
  });
});

describe('the signed body', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => !/[[\]]/.test(text));
  const scalar = fc.oneof(nastyText, fc.integer(), fc.boolean());

  it('decodes to what went in and has no character that could break the form', () => {
    fc.assert(
      fc.property(
        fc.dictionary(name, fc.oneof(scalar, fc.dictionary(name, scalar)), { noNullPrototype: true }),
        (params) => {
          const body = encodeForm(params as ChildParams);
          expect(body).toMatch(/^[A-Za-z0-9\-_.~%&=]*$/);
          const wanted = Object.entries(params).flatMap(([key, value]) =>
            typeof value === 'object'
              ? Object.entries(value).map(([inner, member]) => [`${key}[${inner}]`, textOf(member)])
              : [[key, textOf(value)]],
          );
          expect([...new URLSearchParams(body)]).toEqual(
            wanted.map((pair) => pair.map((text) => Buffer.from(text).toString())),
          );
        },
      ),
      options,
    );
  });
});

const textOf = (value: string | number | boolean) => (typeof value === 'boolean' ? (value ? '1' : '0') : String(value));
