/**
 * `sitefleet completion`: scripts for bash, zsh and fish, generated from the commands and the names of the operations.
 */

import type { Command } from 'commander';
import { operations } from '../../tools/index.js';
import { groupBy } from '../runtime/group-by.js';
import { shellWord, shortName } from './operation-help.js';
import { print } from './output.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Entry {
  /** The preceding words: '' or `jobs`. */
  after: string;
  name: string;
  about: string;
}

/** Prints the script; its first lines say where to put it. */
export function printCompletion(shell: Shell, program: Command): void {
  const entries = [...entriesOf(program, ''), ...operationEntries()];
  print(SCRIPTS[shell](entries));
}

function entriesOf(command: Command, after: string): Entry[] {
  const options = command.options.flatMap(({ long, description, hidden }) =>
    long === undefined || long === null || hidden ? [] : [{ after, name: long, about: description }],
  );
  const visible = command.createHelp().visibleCommands(command);
  const nested = visible.flatMap((sub) => {
    const name = sub.name();
    const path = after === '' ? name : `${after} ${name}`;
    return [{ after, name, about: sub.description() }, ...(name === 'help' ? [] : entriesOf(sub, path))];
  });
  return [...nested, ...options];
}

function operationEntries(): Entry[] {
  return operations.map((operation) => ({ after: 'call', name: shortName(operation), about: operation.title }));
}

function grouped(entries: readonly Entry[]): Map<string, Entry[]> {
  return groupBy(entries, ({ after }) => after);
}

const SCRIPTS: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = { bash, zsh, fish };

/** The words typed so far, without options, select the list. */
function bash(entries: readonly Entry[]): string {
  const cases = [...grouped(entries)].map(
    ([after, list]) => `    ${shellWord(after)}) words=${shellWord(list.map(({ name }) => name).join(' '))} ;;`,
  );
  return `# Bash completion of sitefleet. Load it with: source <(sitefleet completion bash)
_sitefleet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -gt 0 ]] || compopt -o default
}
complete -F _sitefleet sitefleet`;
}

function zsh(entries: readonly Entry[]): string {
  const line = ({ name, about }: Entry) => shellWord(`${name.replaceAll(':', '\\:')}:${about}`);
  const cases = [...grouped(entries)].map(
    ([after, list]) => `    ${shellWord(after)}) words=(${list.map(line).join(' ')}) ;;`,
  );
  return `#compdef sitefleet
# Zsh completion of sitefleet. Load it with: source <(sitefleet completion zsh)
_sitefleet() {
  local typed='' word
  local -a words_before words
  words_before=("\${(@)\${(@)\${(z)LBUFFER}}[2,-1]}")
  [[ $LBUFFER == *' ' ]] || words_before=("\${(@)words_before[1,-2]}")
  for word in "\${words_before[@]}"; do
    [[ -z $word || $word == -* ]] || typed="\${typed:+$typed }$word"
  done
  case "$typed" in
${cases.join('\n')}
  esac
  if (( \${#words} )); then _describe sitefleet words; else _files; fi
}
compdef _sitefleet sitefleet`;
}

function fish(entries: readonly Entry[]): string {
  const lines = [...grouped(entries)].flatMap(([after, list]) =>
    list.map(({ name, about }) => {
      const what = name.startsWith('--') ? `-l ${name.slice(2)}` : `-f -a ${name}`;
      return `complete -c sitefleet -n ${shellWord(`__sitefleet_at ${shellWord(after).replaceAll("'", '"')}`)} ${what} -d ${fishText(about)}`;
    }),
  );
  return `# Fish completion of sitefleet. Load it with: sitefleet completion fish | source
function __sitefleet_at
    set -l typed
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or set -a typed $word
    end
    test "$typed" = "$argv[1]"
end
${lines.join('\n')}`;
}

/** Within single quotes fish interprets a backslash before a quote or another backslash. */
function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
