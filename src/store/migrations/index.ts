/** All schema steps in order. A landed step is never edited: the next change is a new number. */
import { init } from './0001_init.js';

export const migrations: readonly { id: number; name: string; sql: string }[] = [{ id: 1, name: 'init', sql: init }];
