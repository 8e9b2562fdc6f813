/** Tasks of the fixtures: the suite wants some that compute, fail, and ask. Those of the product are its jobs. */

import { randomUUID } from 'node:crypto';
import type { InputRequests, ServerContext } from '@modelcontextprotocol/server';
import { said } from './content.js';

type Result = ReturnType<typeof said> & { isError?: boolean };

interface FixtureTask {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number;
  pollIntervalMs: number;
  result?: Result;
  error?: { code: number; message: string };
  inputRequests?: InputRequests;
}

const tasks = new Map<string, { task: FixtureTask; onAnswered: () => Result }>();

const now = () => new Date().toISOString();

function newTask(status: FixtureTask['status'], onAnswered: () => Result = () => said('')): FixtureTask {
  const task = {
    taskId: randomUUID(),
    status,
    createdAt: now(),
    lastUpdatedAt: now(),
    ttlMs: 60_000,
    pollIntervalMs: 100,
  };
  tasks.set(task.taskId, { task, onAnswered });
  return task;
}

/** The result of a call that created the task. */
function created({ inputRequests: _, ...task }: FixtureTask) {
  return { ...said(''), resultType: 'task', ...task };
}

function end(task: FixtureTask, change: Pick<FixtureTask, 'status'> & Partial<FixtureTask>): void {
  if (task.status === 'working' || task.status === 'input_required')
    Object.assign(task, change, { lastUpdatedAt: now() });
}

/** A task that ends so after this time, unless it is cancelled before. */
export function later(ms: number, change: Pick<FixtureTask, 'status'> & Partial<FixtureTask>) {
  const task = newTask('working');
  setTimeout(() => end(task, change), ms).unref();
  return created(task);
}

/** A task that waits for these answers. */
export function asking(inputRequests: InputRequests, onAnswered: () => Result) {
  const task = Object.assign(newTask('input_required', onAnswered), { inputRequests });
  return created({ ...task, status: 'working' });
}

/** What a method of tasks answers for a task of the fixtures; undefined for any other. */
export function answerOf(method: string, taskId: string, ctx: ServerContext): Record<string, unknown> | undefined {
  const found = tasks.get(taskId);
  if (found === undefined) return undefined;
  const { task, onAnswered } = found;
  if (method === 'tasks/get') return { ...task };
  if (method === 'tasks/cancel') end(task, { status: 'cancelled' });
  if (method === 'tasks/update' && task.inputRequests !== undefined) {
    for (const key of Object.keys(ctx.mcpReq.inputResponses ?? {})) delete task.inputRequests[key];
    if (Object.keys(task.inputRequests).length > 0) return {};
    delete task.inputRequests;
    end(task, { status: 'completed', result: onAnswered() });
  }
  return {};
}
