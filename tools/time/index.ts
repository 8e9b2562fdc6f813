import type { Operation } from '../../src/operation/operation.js';
import addTimeTask from './add-time-task-v1.js';
import deleteTimeTask from './delete-time-task-v1.js';
import listTimeBuckets from './list-time-buckets-v1.js';
import listTimeClients from './list-time-clients-v1.js';
import listTimeTasks from './list-time-tasks-v1.js';
import setTimer from './set-timer-v1.js';
import updateTimeTask from './update-time-task-v1.js';

export const time: readonly Operation[] = [
  listTimeTasks,
  addTimeTask,
  updateTimeTask,
  setTimer,
  deleteTimeTask,
  listTimeClients,
  listTimeBuckets,
];
