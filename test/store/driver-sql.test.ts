import { describe, expect, it } from 'vitest';
import { Lru } from '../../src/store/driver/lru.js';
import { assertScript, inspectSql } from '../../src/store/driver/sql-text.js';
import { expectToGrowLinearly } from '../support/growth.js';

describe('what is known of a statement from its text', () => {
  it.each([
    ['SELECT 1', 'select', true, 0],
    ['  select a FROM b WHERE c = ? AND d = ?', 'select', true, 2],
    ['VALUES (?), (?)', 'values', true, 2],
    ['EXPLAIN DELETE FROM t', 'explain', true, 0],
    ['INSERT INTO t VALUES (?, ?)', 'insert', false, 2],
    ['REPLACE INTO t VALUES (?)', 'replace', false, 1],
    ['WITH a AS (SELECT ?), b(x) AS (VALUES (?)) SELECT * FROM a', 'select', true, 2],
    ['WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a', 'insert', false, 0],
    ['WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i FROM c) DELETE FROM t', 'delete', false, 0],
    ['PRAGMA user_version = 3', 'pragma', false, 0],
    ['VACUUM INTO ?', 'vacuum', false, 1],
    ["SELECT '?', \"?\", `?`, [?], 'it''s ?' -- ?\n /* ? ; */ , ?", 'select', true, 1],
    ['SELECT ?2, ?1, ?', 'select', true, 3],
    ['SELECT ?3, ?', 'select', true, 4],
    ["SELECT x'0102', 1e5, json_extract(a, '$.b') ->> '$.c'; -- done", 'select', true, 0],
    ['-- WITH\n/* a */ UPDATE t SET a = ?', 'update', false, 1],
    ['CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM u; SELECT 1; END', 'create', false, 0],
    ['CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM u; SELECT 1; END;', 'create', false, 0],
  ])('%s', (text, verb, reads, parameters) => {
    expect(inspectSql(text)).toMatchObject({ verb, reads, parameters });
  });

  it.each([
    ['', /empty/],
    ['  -- only a comment', /empty/],
    [';', /empty/],
    ['SELECT 1; SELECT 2', /One statement/],
    ["SELECT ';'; DROP TABLE t", /One statement/],
    ['CREATE TABLE trigger_log (x); DROP TABLE t', /One statement/],
    ['SELECT :name', /positional/],
    ['SELECT @name', /positional/],
    ['SELECT $name', /positional/],
    ['/**/BEGIN IMMEDIATE', /BEGIN/],
  ])('refuses %j', (text, words) => {
    expect(() => inspectSql(text)).toThrow(words);
    expect(() => inspectSql(text)).toThrow(TypeError);
  });

  it('reads a long text in a time that grows with its length', () => {
    expectToGrowLinearly((size) => {
      inspectSql(`SELECT '${"''".repeat(7 * size)}', ${'('.repeat(1000)}1${')'.repeat(1000)}, ${'?,'.repeat(size)}1`);
    }, 2000);
  });
});

describe('a script', () => {
  it.each(['BEGIN', 'COMMIT', 'END', 'ROLLBACK', 'SAVEPOINT a', 'RELEASE a'])('may not contain %s', (text) => {
    expect(() => assertScript(`CREATE TABLE a (x); ${text}; SELECT 1`)).toThrow(/may not contain/);
    expect(() => assertScript(`/* first */ ${text}`)).toThrow(/may not contain/);
  });

  it('may contain triggers, and these words where they mean something else', () => {
    const trigger =
      'CREATE TRIGGER x AFTER INSERT ON t BEGIN UPDATE t SET a = CASE WHEN 1 THEN 2 END; DELETE FROM u; END;';
    expect(() => assertScript(`${trigger} ${trigger} SELECT 'x; COMMIT'; -- ; COMMIT`)).not.toThrow();
    expect(() => assertScript(`${trigger} END;`)).toThrow(/END/);
    expect(() => assertScript(`${trigger} COMMIT;`)).toThrow(/COMMIT/);
  });
});

it('the statement cache forgets what was not used for longest', () => {
  const cache = new Lru<number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([1, undefined, 3, 2]);
  cache.set('a', 9);
  expect([cache.get('a'), cache.size]).toEqual([9, 2]);
  cache.clear();
  expect(cache.size).toBe(0);
});
