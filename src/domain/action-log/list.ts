/** The action log as lists and files. */

import type { ActionFilters } from '../../../schemas/action.js';
import { cleanLine } from '../../../schemas/text.js';
import { closestNames } from '../../runtime/closest-names.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import type { ActionRow } from '../../store/action-log/action-log.js';
import { pastTime } from '../common/past-time.js';
import type { Ctx } from '../context.js';
import { oneOrAll } from '../sites/resolve.js';
import { logHead } from './head.js';
import { canUndo } from './logged-changes.js';
import { UNDONE } from './not-undone.js';
import { actionEvent } from './ocsf.js';
import { logPages } from './pages.js';
import { undoneAmong } from './undone.js';

const DAY_MS = 86_400_000;
const STANDARD_DAYS = 7;
const MOST_TEXT = 255;
/** Characters of inputs and the like in a short list. */
const SHORT_TEXT = 100;

export type ActionsInput = ActionFilters & { page: number; per_page: number };

/** One page, newest first. Throws `svc_invalid_input` for a time, and for a site that does not exist. */
export async function listActions(ctx: Ctx, { page, per_page, ...input }: ActionsInput) {
  const now = ctx.clock.now();
  const until = input.until === undefined ? now : pastTime('until', input.until, now, 'now');
  const standard = until - STANDARD_DAYS * DAY_MS;
  const since =
    input.since === undefined ? standard : pastTime('since', input.since, now, `${STANDARD_DAYS} days before until`);
  const operation = input.operation === undefined ? undefined : storedName(input.operation);
  const [site_id] = (await oneOrAll(ctx, input.site_id_or_domain)) ?? [];
  const { items, total } = await ctx.store.actionLog.list(
    {
      since,
      until,
      site_id,
      operation,
      request_id: input.request_id,
      actor: input.by,
      vias: input.via,
      contexts: input.contexts,
      failed: input.result === undefined ? undefined : input.result === 'failed',
    },
    page,
    per_page,
  );
  const [head, undone] = await Promise.all([logHead(ctx), undoneAmong(ctx, items)]);
  const note = total > 0 || operation === undefined ? undefined : await neverCalled(ctx, operation);
  return {
    ...(note === undefined ? {} : { note }),
    since: timestampOf(since),
    until: timestampOf(until),
    actions: items.map((entry) => actionView(entry, undone)),
    total,
    page,
    per_page,
    head,
  };
}

/** The name of an operation as the log has it, in whichever form it is given; the address of a route as it is. */
function storedName(operation: string): string {
  const name = /^(?:svc[/-])?([a-z][a-z0-9-]*?)(?:-v1)?$/i.exec(operation)?.[1];
  return name === undefined ? operation : `svc/${name.toLowerCase()}-v1`;
}

/** Says so if no entry at all has the operation: its name may be wrong. */
async function neverCalled(ctx: Ctx, operation: string): Promise<string | undefined> {
  const names = await ctx.store.actionLog.operations();
  if (names.includes(operation)) return undefined;
  const close = closestNames(operation, names);
  return `No entry of the log has the operation "${cleanLine(operation, MOST_TEXT)}"${close.length === 0 ? '' : `; some have ${close.join(', ')}`}.`;
}

function actionView(entry: ActionRow, undone: ReadonlySet<number>) {
  const { previous: _previous, fields: _fields, undoes, at, ...row } = entry;
  const line = (text: string) => cleanLine(text, MOST_TEXT);
  return {
    ...row,
    at: isoTime(at) ?? '',
    actor: line(row.actor),
    client: line(row.client),
    slug: line(row.slug),
    name: line(row.name),
    detail: line(row.detail),
    ...canUndo(entry, undone),
    undoes: undoes === '' ? [] : undoes.split(',').map(Number),
  };
}

type ActionView = ReturnType<typeof actionView>;

/**
 * Entries without hashes and what is empty, and with the beginning of long texts; of what cannot be undone only if it is
 * undone already; who called and how is said once for entries of one call that follow each other.
 */
export function shortActions(views: readonly ActionView[]) {
  return views.map((view, at) => shortAction(view, isOfOneCall(view, views[at - 1])));
}

/** A caller names its requests as it likes, also as another caller has named one. */
function isOfOneCall(view: ActionView, other: ActionView | undefined): boolean {
  const members = ['request_id', 'operation', 'actor_type', 'actor_id', 'actor', 'via', 'client'] as const;
  return members.every((member) => view[member] === other?.[member]);
}

function shortAction(view: ActionView, isOfCallAbove: boolean) {
  const { hash: _hash, actor_id: _id, cannot_undo_because: why, ...kept } = view;
  const { actor, actor_type, via, client, operation, ...entry } = kept;
  const { id, at, context, action, ...rest } = entry;
  const short = (text: string) => cleanLine(text, SHORT_TEXT);
  const caller: Partial<ActionView> = isOfCallAbove ? {} : { actor, actor_type, via, client: short(client), operation };
  const said = why === UNDONE ? { cannot_undo_because: why } : {};
  const others = { ...caller, ...rest, ...said, detail: short(rest.detail), input: short(rest.input) };
  const filled = Object.entries(others).filter(([, value]) => !isEmpty(value));
  return { id, at, context, action, ...(Object.fromEntries(filled) as Partial<typeof others>) };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

export const LOG_FORMATS = ['jsonl', 'ocsf'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Characters of inputs, after which an export ends. */
const MOST_INPUT = 4_000_000;

/** Entries after an id, oldest first, each as it is stored, so that its hash can be verified; at least one if there is any. */
export async function storedActions(ctx: Ctx, after: number, limit: number): Promise<ActionRow[]> {
  const pages: ActionRow[][] = [];
  for await (const page of exportPages(ctx, after, limit)) pages.push(page);
  return pages.flat();
}

/** The same, one JSON text each. */
export async function actionLines(ctx: Ctx, format: LogFormat, after: number, limit: number) {
  const lines: string[] = [];
  let last = after;
  for await (const page of exportPages(ctx, after, limit)) {
    for (const row of page) lines.push(JSON.stringify(format === 'jsonl' ? row : actionEvent(row)));
    last = page.at(-1)?.id ?? last;
  }
  return { lines, last };
}

async function* exportPages(ctx: Ctx, after: number, limit: number): AsyncGenerator<ActionRow[]> {
  let room = MOST_INPUT;
  for await (const page of logPages(ctx, after, limit)) {
    yield page;
    room -= page.reduce((sum, { input }) => sum + input.length, 0);
    if (room <= 0) return;
  }
}
