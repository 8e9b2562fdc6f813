/** The command that is running, as the action log names it. */

export interface CurrentCommand {
  /** Such as `sitefleet user add`; '' where the program was not started as a command. */
  name: string;
  arguments: readonly string[];
}

let current: CurrentCommand = { name: '', arguments: [] };

export function setCommand(command: CurrentCommand): void {
  current = command;
}

export function currentCommand(): CurrentCommand {
  return current;
}
