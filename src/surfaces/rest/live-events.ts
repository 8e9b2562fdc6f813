/**
 * `GET /v2/events`: fleet events as server-sent events. While there are listeners, one reader polls the database every
 * second. This shows the work of every process, and one read serves all listeners.
 */

import { randomUUID } from 'node:crypto';
import { liveChanges } from '../../domain/fleet/live.js';
import type { Call, Callable } from '../../operation/operation.js';
import { UNINTERRUPTED } from '../../runtime/abort-signals.js';
import type { Actor } from '../../runtime/actor.js';
import type { Clock } from '../../runtime/clock.js';
import { asServiceError, ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import type { LiveChanges, LiveCursor } from '../../store/fleet/live-changes.js';

export interface LiveEventParts {
  call: Call;
  clock: Clock;
  log: Log;
}

export interface Listener {
  /** Streams of the same principal are counted together. */
  principal: string;
  lastEventId: string | undefined;
  /** Whether the principal may still listen; false, or a rejection with 401 or 403, ends the stream. */
  admitted(): Promise<boolean>;
  /** Cuts the connection of a listener that does not read. */
  drop(): void;
}

const READ_EVERY_MS = 1000;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2000;
/** Streams of one principal, such as the tabs of a user. */
const MAX_OF_ONE = 12;
const MAX_STREAMS = 500;
/** Bytes buffered for a slow reader; at this limit its connection is cut, and clients reconnect automatically. */
const MAX_WAITING = 256 * 1024;

/** The actor that reads for all listeners. */
const READER: Actor = { type: 'system', id: null, name: 'live events', rights: ['read'], via: 'rest' };
const READ: Callable<LiveCursor | null, LiveChanges> = {
  id: 'GET /events',
  engine: false,
  call: (cursor, ctx) => liveChanges(ctx, cursor),
};

interface LiveEvent {
  name: 'job' | 'site' | 'alert' | 'updates';
  data: Record<string, unknown>;
}

interface Stream extends Listener {
  controller: ReadableStreamDefaultController<Uint8Array>;
  sentAt: number;
  /** Nothing has been sent since this position, because the listener's permission could not be checked. */
  behind: LiveCursor | undefined;
}

export function createLiveEvents({ call, clock, log }: LiveEventParts) {
  const streams = new Set<Stream>();
  let cursor: LiveCursor | undefined;
  let memory = createMemory();
  let reading = false;

  const read = (from: LiveCursor | null) =>
    call(READ, from, { actor: READER, request_id: randomUUID(), signal: UNINTERRUPTED });

  function send(stream: Stream, text: string): void {
    if (!streams.has(stream)) return;
    // The buffer is full: earlier data has not been read.
    if ((stream.controller.desiredSize ?? 0) <= 0) {
      log.info({ principal: stream.principal }, 'an event listener does not read: its connection is closed');
      end(stream);
      stream.drop();
      return;
    }
    stream.controller.enqueue(Buffer.from(text));
    stream.sentAt = clock.elapsed();
  }

  function end(stream: Stream): void {
    if (!streams.delete(stream)) return;
    stream.controller.close();
  }

  /** Sends the events, or a heartbeat; ends the stream if it may no longer listen. */
  async function serve(stream: Stream, news: readonly LiveEvent[], before: LiveCursor | undefined): Promise<void> {
    let events = news;
    try {
      if (!(await stream.admitted())) return end(stream);
      const { behind } = stream;
      if (behind !== undefined) events = createMemory().news(await read(behind), behind);
      stream.behind = undefined;
    } catch (error) {
      if ([401, 403].includes(asServiceError(error).status)) return end(stream);
      stream.behind ??= before;
      return;
    }
    const text = cursor === undefined ? '' : textOf(events, idOf(cursor));
    if (text !== '') send(stream, text);
    else if (clock.elapsed() - stream.sentAt >= HEARTBEAT_MS) send(stream, ':\n\n');
  }

  async function tick(): Promise<void> {
    const before = cursor;
    let events: LiveEvent[] = [];
    try {
      const changes = await read(cursor ?? null);
      events = memory.news(changes, cursor);
      cursor = changes.cursor;
    } catch (error) {
      log.debug({ err: error }, 'live events will be read later');
    }
    await Promise.all([...streams].map((stream) => serve(stream, events, before)));
  }

  async function follow(): Promise<void> {
    if (reading) return;
    reading = true;
    for (;;) {
      await clock.sleep(READ_EVERY_MS);
      // The last listener may have gone meanwhile, and the service have closed its database.
      if (streams.size === 0) break;
      await tick();
    }
    reading = false;
    cursor = undefined;
    memory = createMemory();
  }

  return {
    /** Opens a stream. Rejects with svc_rest_too_many_requests. */
    async open(listener: Listener): Promise<ReadableStream<Uint8Array>> {
      const ofOne = [...streams].filter(({ principal }) => principal === listener.principal).length;
      if (ofOne >= MAX_OF_ONE || streams.size >= MAX_STREAMS) throw tooMany();
      let opened: Stream | undefined;
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            opened = { ...listener, controller, sentAt: clock.elapsed(), behind: undefined };
            streams.add(opened);
          },
          cancel() {
            if (opened !== undefined) streams.delete(opened);
          },
        },
        new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING }),
      );
      const stream = opened as Stream | undefined;
      if (stream === undefined) return body;
      try {
        const since = cursorOf(listener.lastEventId);
        if (cursor === undefined) {
          const changes = await read(null);
          memory.news(changes);
          cursor ??= changes.cursor;
        }
        const missed = since === undefined ? undefined : await read(since);
        const events = missed === undefined ? [] : createMemory().news(missed, since);
        const id = idOf(missed?.cursor ?? cursor);
        send(stream, `retry: ${RETRY_MS}\n\n${textOf(events, id, true)}`);
      } catch (error) {
        streams.delete(stream);
        throw error;
      }
      follow().catch((error: unknown) => log.error({ err: error }, 'live events stopped'));
      return body;
    },
  };
}

/** Remembers the reported state and returns the changes since then as events. */
function createMemory() {
  let jobs = new Map<string, string>();
  let steps = new Map<string, { site_id: number; step: string }>();
  let syncs = new Map<number, number>();

  return {
    /** @param since start of the changes; without it they are only remembered */
    news(changes: LiveChanges, since?: LiveCursor): LiveEvent[] {
      const events: LiveEvent[] = [];
      const sites = new Set(changes.acted);
      const jobsNow = new Map(changes.jobs.map((job) => [job.id, JSON.stringify(job)]));
      for (const { id, type, status, done, failed, total } of changes.jobs)
        if (jobs.get(id) !== jobsNow.get(id))
          events.push({ name: 'job', data: { id, type, status, done, failed, total } });
      const stepsNow = new Map(changes.open_changes.map(({ id, site_id, step }) => [id, { site_id, step }]));
      for (const [id, { site_id, step }] of stepsNow) if (steps.get(id)?.step !== step) sites.add(site_id);
      for (const [id, { site_id }] of steps) if (!stepsNow.has(id)) sites.add(site_id);
      for (const { site_id, at } of changes.synced)
        if (syncs.get(site_id) !== at && (since === undefined || syncs.size > 0 || at > since.synced))
          sites.add(site_id);
      jobs = jobsNow;
      steps = stepsNow;
      syncs = new Map(changes.synced.map(({ site_id, at }) => [site_id, at]));
      if (since === undefined) return [];
      for (const { kind, site_id } of changes.alerts) {
        events.push({ name: 'alert', data: { kind, site_id } });
        if (site_id !== null) sites.add(site_id);
      }
      for (const id of sites) events.push({ name: 'site', data: { id } });
      if (changes.cursor.updates !== since.updates)
        events.push({ name: 'updates', data: { sites: changes.offering_sites } });
      return events;
    },
  };
}

/**
 * Formats events as server-sent events. Only the last one carries the id, for all of them: if the connection is cut in
 * between, all are sent again.
 * @param alwaysId sends the id even without an event, so that a reconnecting listener can name its position
 */
function textOf(events: readonly LiveEvent[], id: string, alwaysId = false): string {
  if (events.length === 0) return alwaysId ? `id: ${id}\n\n` : '';
  const last = events.length - 1;
  return events
    .map(({ name, data }, at) => `event: ${name}\ndata: ${JSON.stringify(data)}\n${at === last ? `id: ${id}\n` : ''}\n`)
    .join('');
}

function idOf({ alert, log, synced, updates, at }: LiveCursor): string {
  return [alert, log, synced, updates, at].join('.');
}

const ID = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([0-9A-Fa-f]{1,32})\.(\d{1,15})$/;

/** Parses an event id; undefined for any other text: the listener then gets only events from now on. */
function cursorOf(id: string | undefined): LiveCursor | undefined {
  const [, alert, log, synced, updates = '', at] = ID.exec(id ?? '') ?? [];
  if (at === undefined) return undefined;
  return { alert: Number(alert), log: Number(log), synced: Number(synced), updates, at: Number(at) };
}

function tooMany(): ServiceError {
  return new ServiceError('svc_rest_too_many_requests', 'Too many event streams are open.', {
    advice: `Close some: a login may have ${MAX_OF_ONE} at a time.`,
    data: { retry_after: 30 },
  });
}
