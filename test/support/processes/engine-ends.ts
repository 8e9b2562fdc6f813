/**
 * Program that closes its engine as soon as its thread is at work, and gives it almost no time to end. Started with
 * `{ thread, busy }` as JSON: the program of the thread, and the file that it writes once it is at work.
 */

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type EngineParts, startEngineThread } from '../../../src/runtime/engine/client.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';
import { pause } from './program.js';

const { thread, busy } = JSON.parse(process.argv[2] ?? '{}');
process.stdout.write('ready\n');
const engine = startEngineThread(pathToFileURL(thread), {} as EngineParts, createLog('silent'), () => undefined, 1);
while (!existsSync(busy)) await pause(5);
await engine.close();
