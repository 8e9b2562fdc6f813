import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type TestApp, testApp } from '../harness.js';
import { sqldBinary, sqldMissing, startSqld, type Sqld } from '../sqld.js';
import { everyOperation } from './every-operation.js';
let server: Sqld; let app: TestApp;
beforeAll(async () => {
    server = await startSqld();
    app = await testApp({ sites: 14, jobs: false, realClock: true, config: { db: `http://${server.host}`, job_chunk: 5, job_delay_ms: 0, batch_threshold: 8 } });
    for (let i = 0; i < 14; i++) await app.connect(i);
}, 60_000);
afterAll(async () => { await app?.close(); await server?.stop(); });
it('x', async () => {
  const out: Record<string, number> = {};
  const done = await everyOperation(app, 14, async ({ name, input }) => {
    app.db.reset();
    try { const a = await app.call(name, input); out[name] = Math.max(out[name] ?? 0, app.db.counts.calls); if (a.errors?.length) console.error(name, a.errors); return a; } catch (e) { console.error(name, input, String(e), (e as any).field); throw e; }
  });
  console.error(done.length, out);
});
