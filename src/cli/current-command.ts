/** The command that is running, as the action log names it. */

export interface CurrentCommand {
  /** Such as `sitefleet user add`; '' where the program was not started as a command. */
  name: string;
  arguments: readonly string[];
  /** As they were given, or by default. No option is a secret itself: those are read from files and stdin. */
  options: Readonly<Record<string, unknown>>;
}

let current: CurrentCommand = { name: '', arguments: [], options: {} };

export function setCommand(command: CurrentCommand): void {
  current = command;
}

export function currentCommand(): CurrentCommand {
  return current;
}
