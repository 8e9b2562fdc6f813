/** All operations, grouped and in the order of publication. Listed explicitly: no directory is scanned. */

import type { GroupedOperation, Operation } from '../src/operation/operation.js';
import type { Toolset } from '../src/runtime/toolsets.js';
import { approvals } from './approvals/index.js';
import { backups } from './backups/index.js';
import { clients } from './clients/index.js';
import { content } from './content/index.js';
import { costs } from './costs/index.js';
import { fleet } from './fleet/index.js';
import { guard } from './guard/index.js';
import { guidance } from './guidance/index.js';
import { insight } from './insight/index.js';
import { jobs } from './jobs/index.js';
import { monitoring } from './monitoring/index.js';
import { policies } from './policies/index.js';
import { reports } from './reports/index.js';
import { rollouts } from './rollouts/index.js';
import { safety } from './safety/index.js';
import { sites } from './sites/index.js';
import { support } from './support/index.js';
import { tags } from './tags/index.js';
import { time } from './time/index.js';
import { undo } from './undo/index.js';
import { updates } from './updates/index.js';

function group(name: Toolset, operations: readonly Operation[]): GroupedOperation[] {
  return operations.map((operation) => ({ ...operation, group: name }));
}

export const operations: readonly GroupedOperation[] = [
  ...group('sites', sites),
  ...group('updates', updates),
  ...group('safety', safety),
  ...group('clients', clients),
  ...group('tags', tags),
  ...group('batch', jobs),
  ...group('fleet', fleet),
  ...group('insight', insight),
  ...group('guard', guard),
  ...group('support', support),
  ...group('undo', undo),
  ...group('guidance', guidance),
  ...group('monitoring', monitoring),
  ...group('reports', reports),
  ...group('content', content),
  ...group('costs', costs),
  ...group('time', time),
  ...group('approvals', approvals),
  ...group('rollouts', rollouts),
  ...group('policies', policies),
  ...group('backups', backups),
];
