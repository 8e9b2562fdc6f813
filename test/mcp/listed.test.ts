import { describe, expect, it } from 'vitest';
import { Listed, listRequest } from '../../src/mcp/listed.js';

const plain = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('a kept list', () => {
  it('answers an equal request under its own id, byte for byte', () => {
    const lists = new Listed();
    const first = listRequest(plain);
    if (first === undefined) throw new Error('not recognised');
    expect(lists.answer(first)).toBeUndefined();
    lists.keep(first, { tools: [{ name: 'ä' }] });
    const again = listRequest({ ...plain, id: 'x"y' });
    if (again === undefined) throw new Error('not recognised');
    const text = Buffer.from(lists.answer(again) ?? []).toString('utf8');
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 'x"y', result: { tools: [{ name: 'ä' }] } });
  });

  it('is not used for a request with other metadata', () => {
    const lists = new Listed();
    const old = listRequest({ ...plain, params: { _meta: { version: 1 } } });
    const other = listRequest({ ...plain, params: { _meta: { version: 2 } } });
    const bare = listRequest(plain);
    const empty = listRequest({ ...plain, params: { _meta: {} } });
    if (!old || !other || !bare || !empty) throw new Error('not recognised');
    lists.keep(old, { tools: [] });
    for (const request of [other, bare, empty]) expect(lists.answer(request)).toBeUndefined();
  });

  it.each([
    ['another method', { ...plain, method: 'tools/call' }],
    ['a notification', { jsonrpc: '2.0', method: 'tools/list' }],
    ['an id that is no id', { ...plain, id: null }],
    ['a fraction as id', { ...plain, id: 1.5 }],
    ['a page', { ...plain, params: { cursor: 'abc' } }],
    ['progress', { ...plain, params: { _meta: { progressToken: 1 } } }],
    ['an unknown member', { ...plain, extra: true }],
    ['parameters that are a list', { ...plain, params: [] }],
    ['a batch', [plain]],
    ['another protocol', { ...plain, jsonrpc: '1.0' }],
    ['an endless description of the client', { ...plain, params: { _meta: { client: 'x'.repeat(3000) } } }],
  ])('is no matter of %s', (_what, message) => {
    expect(listRequest(message)).toBeUndefined();
  });

  it('does not grow without end', () => {
    const lists = new Listed();
    const requests = Array.from({ length: 100 }, (_, i) => listRequest({ ...plain, params: { _meta: { i } } }));
    for (const request of requests) if (request) lists.keep(request, {});
    const kept = requests.filter((request) => request !== undefined && lists.answer(request) !== undefined);
    expect(kept.length).toBeLessThanOrEqual(32);
    expect(kept.length).toBeGreaterThan(0);
  });
});
