/**
 * Entry point of the thread that makes one backup. A separate thread, because copying and verifying a large file takes
 * seconds.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../runtime/engine/thread-priority.js';
import { copyAndVerify } from '../store/backups/copy.js';

lowerPriority();
const { url, path } = workerData as { url: string; path: string };
parentPort?.postMessage(await copyAndVerify(url, path));
