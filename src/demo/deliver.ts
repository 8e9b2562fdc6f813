import type { ServerResponse } from 'node:http';
import type { Faults } from './faults.js';
import type { Answer } from './http-answer.js';

const DRIBBLE = { bytes: 16, everyMs: 50 };
const FLOOD = Buffer.alloc(64 * 1024, 'A');

/** Sends an answer, in the way the site's faults ask for. */
export function deliver(response: ServerResponse, answer: Answer, faults: Faults, headOnly: boolean): void {
  if (answer.drop) {
    response.destroy();
    return;
  }
  if (faults.oversizedBody) {
    response.writeHead(answer.status, answer.headers);
    flood(response);
    return;
  }
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  if (!response.headersSent) response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
  if (headOnly) response.end();
  else if (faults.slowBody) dribble(response, body, faults.slowBody === true ? DRIBBLE : faults.slowBody);
  else response.end(body);
}

/** Writes until the client has had enough. */
function flood(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(FLOOD)) setImmediate(flood, response);
  else response.once('drain', () => flood(response));
}

function dribble(response: ServerResponse, body: Buffer, pace: { bytes: number; everyMs: number }): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + pace.bytes));
    sent += pace.bytes;
    if (sent >= body.length) response.end();
  }, pace.everyMs);
  response.once('close', () => clearInterval(timer));
  response.once('finish', () => clearInterval(timer));
}
