/** The log port: structured, leveled lines. `runtime/telemetry/log.ts` implements it. */

/** Structured, leveled, to stderr. Never pass it a secret or a child's raw text. */
export interface Log {
  debug(facts: Record<string, unknown>, message: string): void;
  info(facts: Record<string, unknown>, message: string): void;
  warn(facts: Record<string, unknown>, message: string): void;
  error(facts: Record<string, unknown>, message: string): void;
}
