/** Writes log lines as JSON to stderr: stdout is for output (JSON-RPC on stdio, `--json` of the commands). */

import { pino } from 'pino';
import type { Config } from '../config/types.js';
import type { Log } from '../log.js';

/** Members that are never written, at the top level or one below, whatever their values. */
const SECRET_MEMBERS = [
  'authorization',
  'password',
  'admin_password',
  'http_pass',
  'secret',
  'secret_key',
  'private_key',
  'token',
  'api_key',
  'cookie',
];

/**
 * A leveled logger. `destination` receives the lines, for tests; stderr otherwise. Errors under `err` are written with
 * type, message, stack and `cause`.
 */
export function createLog(level: Config['log_level'], destination?: { write(line: string): void }): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    },
    destination ?? stderr(),
  );
}

function stderr() {
  // Synchronous: a line that explains a crash must not be lost in a buffer.
  const destination = pino.destination({ fd: 2, sync: true });
  // The reader of stderr may have exited, which must not end the service.
  destination.on('error', () => undefined);
  return destination;
}
