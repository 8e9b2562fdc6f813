import { isJSONRPCErrorResponse, isJSONRPCRequest, isJSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';
import * as modern from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { evidentEra, isEvidentRequest } from '../../src/mcp/messages.js';

const PREFIX = 'io.modelcontextprotocol/';
const whole = {
  [`${PREFIX}protocolVersion`]: '2026-07-28',
  [`${PREFIX}clientInfo`]: { name: 'x', version: '1' },
  [`${PREFIX}clientCapabilities`]: {},
};
const version = fc.constantFrom(
  null,
  '2026-07-28',
  '2026-07-28',
  '2025-11-25',
  '2025-11-25',
  '2025-06-18',
  '2024-11-05',
  '2027-01-01',
  '',
  'x',
);
const meta = fc.oneof(
  fc.constantFrom<unknown>(undefined, undefined, {}, { progressToken: 1 }, { progressToken: {} }, null, [], 'x', whole),
  fc.constantFrom<unknown>(whole, { ...whole, progressToken: 'a' }, { [`${PREFIX}protocolVersion`]: '2026-07-28' }),
  fc.constantFrom<unknown>(
    { ...whole, [`${PREFIX}protocolVersion`]: '2025-11-25' },
    { ...whole, [`${PREFIX}protocolVersion`]: 7 },
    { [`${PREFIX}related-task`]: { taskId: 'a' } },
  ),
);
const params = fc.oneof(
  fc.constantFrom<unknown>(undefined, {}, { name: 'tool', arguments: {} }, null, [], 'x'),
  meta.map((_meta) => ({ name: 'tool', ...(_meta === undefined ? {} : { _meta }) })),
);
const method = fc.constantFrom<unknown>(
  'tools/call',
  'tools/call',
  'tools/list',
  'tools/list',
  'initialize',
  'server/discover',
  '',
  7,
  undefined,
);
const id = fc.constantFrom<unknown>(1, 2, 3, 0, -3, 'a', 'b', 'c', '', 1.5, null, undefined, {}, 2 ** 60);
const message = fc
  .record({ jsonrpc: fc.constantFrom<unknown>(...Array<string>(10).fill('2.0'), '1.0', undefined), id, method, params })
  .chain((one) =>
    fc.constantFrom<unknown>(one, one, one, one, { ...one, extra: 1 }, { ...one, result: {} }, [one], null),
  );

/** As it came over the wire: members that are undefined are not there. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it('what is evident to us is what the SDK finds out', async () => {
  const seen = { legacy: 0, modern: 0, unsure: 0 };
  await fc.assert(
    fc.asyncProperty(message.map(sent), version, async (body, header) => {
      const era = evidentEra(body, header);
      seen[era ?? 'unsure']++;
      if (era === undefined) return;
      const headers = {
        'content-type': 'application/json',
        ...(header === null ? {} : { 'mcp-protocol-version': header }),
      };
      const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
      expect(await modern.isLegacyRequest(request, body)).toBe(era === 'legacy');
    }),
    { numRuns: 6_000, seed: 3 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(20);
});

it('what is evidently a request is one to both SDKs, and nothing else', () => {
  let seen = 0;
  fc.assert(
    fc.property(message.map(sent), (body) => {
      if (!isEvidentRequest(body)) return;
      seen++;
      for (const sdk of [{ isJSONRPCErrorResponse, isJSONRPCRequest, isJSONRPCResultResponse }, modern]) {
        expect(sdk.isJSONRPCRequest(body)).toBe(true);
        expect(sdk.isJSONRPCResultResponse(body) || sdk.isJSONRPCErrorResponse(body)).toBe(false);
      }
    }),
    { numRuns: 6_000, seed: 3 },
  );
  expect(seen).toBeGreaterThan(500);
});
