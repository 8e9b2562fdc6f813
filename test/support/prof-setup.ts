import { Session } from 'node:inspector';
import { writeFileSync, mkdirSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
const g = globalThis as any;
mkdirSync('/tmp/prof', { recursive: true });
const post = (m: string, p?: object) => new Promise<any>((y, n) => g.__s.post(m, p, (e: any, r: any) => (e ? n(e) : y(r))));
beforeAll(async () => {
  if (g.__s === undefined) { g.__s = new Session(); g.__s.connect(); g.__n = 0; await post('Profiler.enable'); await post('Profiler.setSamplingInterval', { interval: 1000 }); await post('Profiler.start'); }
});
afterAll(async () => {
  const { profile } = await post('Profiler.stop');
  writeFileSync(`/tmp/prof/${process.pid}-${g.__n++}.cpuprofile`, JSON.stringify(profile));
  await post('Profiler.start');
});
