/** Every row of the REST interface called at least once, over a simulated fleet, and every answer recorded. */

import { routes } from '../../src/surfaces/rest/index.js';
import type { HttpMethod } from '../../src/surfaces/rest/route.js';
import type { RestApp, RestReply } from './client.js';

export interface Recorded {
  method: HttpMethod;
  /** Path of the row. */
  path: string;
  call: string;
  reply: RestReply;
}

type Values = Record<string, string | number>;

/** Sends calls by row, filling the names in braces, with each method of the row in turn. */
export function recorder(app: RestApp) {
  const recorded: Recorded[] = [];
  async function send(
    method: HttpMethod,
    path: string,
    values: Values,
    body?: unknown,
    query = '',
  ): Promise<RestReply> {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(values[name] ?? `no-${name}`)),
    );
    const call = `${method} ${filled}${query}`;
    const reply = await app.rest(call, body === undefined ? {} : { body });
    recorded.push({ method, path, call, reply });
    return reply;
  }
  const rowOf = (on: HttpMethod, path: string) => {
    const row = routes.find((each) => each.path === path && each.on.includes(on));
    if (row === undefined) throw new Error(`no row ${on} ${path}`);
    return row;
  };
  return {
    recorded,
    get: (path: string, values: Values = {}, query = '') => send('GET', path, values, undefined, query),
    /** Calls every method of the row that has `on`; returns the last answer. `between` restores the data. */
    async each(on: HttpMethod, path: string, values: Values = {}, body?: unknown, between?: () => Promise<unknown>) {
      let last: RestReply | undefined;
      for (const method of rowOf(on, path).on) {
        if (last !== undefined) await between?.();
        last = await send(method, path, values, body);
      }
      if (last === undefined) throw new Error(`${path} has no method`);
      return last;
    },
    send,
  };
}
