/**
 * Shared by the views inside assistants: the connection to the host, buttons with confirmation, and answers as tables.
 */

import { type ComponentChildren, render } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { connect, type Host, type ToolResult } from './host.js';
import { say } from './texts.js';
import '../style/base.css';
import '../style/parts.css';
import './apps.css';

export type Json = Record<string, unknown>;

/** Props of a view: the newest answer of its tool, and the arguments of that call. */
export interface ViewProps<Answer> {
  answer: Answer;
  input: Json;
  host: Host;
  /** Calls the view's own tool again, with other arguments where given, and shows the answer. */
  again(change?: Json): Promise<void>;
}

interface Parts<Answer> {
  name: string;
  /** Of several, the one that gave the answer. */
  tool: string | ((answer: Answer) => string);
  /** Undefined for an answer that does not have this tool's shape. */
  read(output: Json): Answer | undefined;
  View(props: ViewProps<Answer>): ComponentChildren;
}

/** Starts a view: waits for the host, then shows each answer that arrives. */
export async function start<Answer>({ name, tool, read, View }: Parts<Answer>): Promise<void> {
  const root = document.body;
  let input: Json = {};
  let host: Host | undefined;
  let shown: ToolResult | undefined;
  let last: Answer | undefined;
  const notice = (text: string) => render(<p class="muted notice">{text}</p>, root);

  function show(result: ToolResult): void {
    shown = result;
    if (host === undefined) return;
    if (result.isError === true) {
      render(<p class="notice problem">{textOf(result)}</p>, root);
      return;
    }
    const answer = read(result.structuredContent ?? {});
    if (answer === undefined) {
      notice(say.unexpected);
      return;
    }
    last = answer;
    render(<View answer={answer} input={input} host={host} again={again} />, root);
  }
  const again = async (change: Json = {}) => {
    if (host === undefined) return;
    // What the answer shows is what it was asked for.
    const asked = { ...input, ...change };
    const name = typeof tool === 'string' ? tool : last === undefined ? '' : tool(last);
    const result = await host.call(name, asked);
    input = asked;
    show(result);
  };
  notice(say.waiting);
  host = await connect(name, {
    input: (args) => {
      input = args;
    },
    result: show,
    cancelled: () => notice(say.cancelled),
  });
  if (shown !== undefined) show(shown);
}

/** What a tool answers. Rejects with its message when it refuses, and when it could not be called. */
export async function outputOf(host: Host, tool: string, args: Json): Promise<Json> {
  const result = await host.call(tool, args);
  if (result.isError === true) throw new Error(textOf(result));
  return result.structuredContent ?? {};
}

export function textOf({ content = [] }: ToolResult): string {
  return content.map(({ text = '' }) => text).join('\n');
}

interface PressProps {
  children: string;
  /** The effect of the action; shown for confirmation after the first press. */
  sure?: string;
  /** A secondary action, shown less prominently. */
  quiet?: boolean;
  onPress(): Promise<unknown>;
}

/** A button that calls a tool. With `sure` it shows that text first and acts only when pressed again. */
export function Press({ children, sure, quiet = false, onPress }: PressProps) {
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const go = async () => {
    setProblem('');
    try {
      await onPress();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setAsking(false);
  };
  if (asking)
    return (
      <span class="press">
        <span>{sure}</span>
        <Button small kind="main" onClick={go}>
          {say.sure}
        </Button>
        <Button small onClick={() => setAsking(false)}>
          {say.cancel}
        </Button>
      </span>
    );
  return (
    <span class="press">
      <Button
        small
        kind={quiet ? 'quiet' : sure === undefined ? 'plain' : 'main'}
        onClick={sure === undefined ? go : () => setAsking(true)}
      >
        {children}
      </Button>
      {problem !== '' && <span class="problem">{problem}</span>}
    </span>
  );
}

const ROWS = 12;
const COLUMNS = 6;

/** Any answer of our tools: its first list as a table, or its members. */
export function Answer({ result }: { result: ToolResult }) {
  if (result.isError === true) return <p class="problem">{textOf(result)}</p>;
  const output = result.structuredContent ?? {};
  const list = Object.values(output).find(isList);
  if (list === undefined) return <Members of={output} />;
  const columns = Array.isArray(output.columns)
    ? output.columns.map(String)
    : [...new Set(list.flatMap((row) => (Array.isArray(row) ? [] : Object.keys(row))))].slice(0, COLUMNS);
  const total = typeof output.total === 'number' ? output.total : list.length;
  const rows = list.slice(0, ROWS);
  return (
    <div class="scrolls">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name}>{name.replaceAll('_', ' ')}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((name, column) => (
                <td key={name}>{cell(Array.isArray(row) ? row[column] : row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {total > rows.length && <p class="muted">{say.more(rows.length, total)}</p>}
    </div>
  );
}

function Members({ of }: { of: Json }) {
  return (
    <dl class="members">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll('_', ' ')}</dt>
          <dd>{cell(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function isList(value: unknown): value is (Json | unknown[])[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'object' && one !== null);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The address of a site without scheme, `www.` and trailing slash. */
export function plainUrl(url: string): string {
  return url.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '');
}
