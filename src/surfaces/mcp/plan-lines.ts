/** What a plan says, for a question to a person: every member of it with its name, and of each item of a list all values. */

import { siteWord } from '../../../schemas/site-text.js';
import { withRealDomains } from '../../runtime/real-domains.js';

interface PlanLine {
  /** Of the member; '' = a sentence of ours. */
  name: string;
  said: string;
  /** What is named in it: names, addresses, versions, the number of a record. */
  texts: string[];
}

/** What says nothing about what would be done. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['dry_run', 'queued', 'deleted', 'already_started', 'needs_approval', 'total_errors'],
  // Marks of the plan and of entries of the log, which name nothing to a person.
  ...['digest', 'change_id', 'action_ids'],
]);

/** Of each kind of what would be done: most are 0. */
const COUNTS = 'would_affect';

export function planLines(plan: unknown, name = ''): PlanLine[] {
  if (isEmpty(plan) || LEFT_OUT.has(name)) return [];
  const words = name.replaceAll('_', ' ');
  if (Array.isArray(plan)) return plan.map((item) => ({ name: words, said: saidOf(item), texts: textsIn(item) }));
  if (typeof plan === 'object' && plan !== null)
    return Object.entries(plan)
      .filter(([, value]) => name !== COUNTS || value !== 0)
      .flatMap(([member, value]) => planLines(value, member));
  if (name === 'summary') return [{ name: '', said: String(plan), texts: [] }];
  // A number names a record: others may be called as it is.
  const texts = /^(?:\w+_)?id$/.test(name) ? [String(plan)] : textsIn(plan);
  return [{ name: words, said: saidOf(plan), texts }];
}

/** The lines in one text, those of a list behind its name. */
export function joined(lines: readonly PlanLine[]): string {
  let text = '';
  let last: string | undefined;
  for (const { name, said } of lines) {
    if (name === '') text = `${ended(text)} ${said}`;
    else text = name === last ? `${text}; ${said}` : `${ended(text)} ${name}: ${said}`;
    last = name;
  }
  return ended(text.trim());
}

function ended(text: string): string {
  return /[^.!?]$/.test(text) ? `${text}.` : text;
}

/** Whether a question already names all that a line names. */
export function isSaidIn(question: string, { texts }: PlanLine): boolean {
  return texts.every((text) => names(question, text));
}

/** Addresses are also known without what is the same in all. */
function names(question: string, text: string): boolean {
  const short = text.replace(/^https?:\/\/|\/$/g, '');
  return [text, siteWord(text), short, withRealDomains(short)].some((one) => hasWord(question, one));
}

/** Not as a part of a longer word or address: `shop.example` is not `shop.example.org`. */
function hasWord(question: string, word: string): boolean {
  const plain = word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`(?<![\\w./:-])${plain}(?![\\w/-]|[.:]\\w)`).test(question);
}

function saidOf(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return value.map(saidOf).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .filter(([name, member]) => !isEmpty(member) && !LEFT_OUT.has(name))
    .map(([name, member]) => {
      if (typeof member === 'string') return quoted(member);
      const said = saidOf(member);
      return `${name.replaceAll('_', ' ')} ${typeof member === 'object' ? `(${said})` : said}`;
    })
    .join(' · ');
}

/** More than a word is put in quotes: it may be of a site or a program, and could pass for a part of the question. */
function quoted(text: string): string {
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => (LEFT_OUT.has(name) ? [] : textsIn(member)));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
