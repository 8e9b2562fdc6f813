/**
 * The documents: every citation in the code names a section that exists, and every link between documents has a target.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { STATUS } from '../../src/runtime/errors.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const CONTRACTS = {
  operations: 'docs/contracts/operations.md',
  REST: 'docs/contracts/rest.md',
  'child protocol': 'docs/contracts/child-protocol.md',
} as const;
type Contract = keyof typeof CONTRACTS;

/** `6.10.8`, `8.0a`, `11.2`. */
const NUMBER = String.raw`\d+(?:\.\d+)*[a-z]?`;
/** A row of a table (`S4`, `R18`), a range of them, or a label in quotes. */
const PART = String.raw`(?:[A-Z]\d+(?:–[A-Z]\d+)?|"[^"]+")`;
const CITATION = new RegExp(
  String.raw`\b(operations|REST|child protocol|RFC \d+) ((?:§${NUMBER}(?: ${PART})?(?:, )?(?:${PART})?)+)`,
  'g',
);
const SECTION = new RegExp(`§(${NUMBER})((?:,? ${PART})*)`, 'g');

interface Citation {
  file: string;
  contract: Contract;
  section: string;
  parts: string[];
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`);
}

/** The text with wrapped comments joined into one line. */
function flat(text: string): string {
  return text.replace(/\n\s*(?:\*(?!\/)|\/\/) ?/g, ' ');
}

function rowsOf(part: string): string[] {
  const [from = '', to = from] = part.split('–');
  const letter = from.slice(0, 1);
  const [first, last] = [Number(from.slice(1)), Number(to.slice(1))];
  return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`);
}

const sources = ['src', 'tools', 'schemas', 'test', 'bench']
  .flatMap((folder) => filesBelow(folder, '.ts'))
  .filter((file) => file !== 'test/architecture/docs.test.ts')
  .map((file) => ({ file, text: flat(readFileSync(join(root, file), 'utf8')) }));

/** Matches of well-formed citations, and the remaining text. */
function split(text: string): { found: RegExpMatchArray[]; rest: string } {
  return { found: [...text.matchAll(CITATION)], rest: text.replace(CITATION, '') };
}

const citations: Citation[] = sources.flatMap(({ file, text }) =>
  split(text).found.flatMap(([, contract = '', list = '']) =>
    contract in CONTRACTS
      ? [...list.matchAll(SECTION)].map(([, section = '', parts = '']) => ({
          file,
          contract: contract as Contract,
          section,
          parts: [...parts.matchAll(new RegExp(PART, 'g'))].map(([part]) => part),
        }))
      : [],
  ),
);

/**
 * Text by section number, below a heading or in a table row that begins with the number; a section includes its
 * subsections.
 */
function sectionsOf(file: string): Map<string, string> {
  const sections = new Map<string, string>();
  const open: { depth: number; number: string }[] = [];
  for (const line of readFileSync(join(root, file), 'utf8').split('\n')) {
    const [, marks, number] = new RegExp(`^(#{2,5}) (${NUMBER})\\.? `).exec(line) ?? [];
    if (marks !== undefined && number !== undefined) {
      while ((open.at(-1)?.depth ?? 0) >= marks.length) open.pop();
      open.push({ depth: marks.length, number });
    }
    const [, row] = new RegExp(`^\\| (${NUMBER}\\.\\d+) \\|`).exec(line) ?? [];
    for (const section of [...open.map((each) => each.number), ...(row === undefined ? [] : [row])])
      sections.set(section, `${sections.get(section) ?? ''}${line}\n`);
  }
  return sections;
}

const contracts = Object.fromEntries(
  Object.entries(CONTRACTS).map(([name, file]) => [name, sectionsOf(file)]),
) as Record<Contract, Map<string, string>>;

function holds(text: string, part: string): boolean {
  if (part.startsWith('"')) return text.toLowerCase().includes(part.slice(1, -1).toLowerCase());
  return rowsOf(part).every((row) => new RegExp(`^\\| \\*{0,2}${row}\\*{0,2}[ |]`, 'm').test(text));
}

describe('citations of the contracts', () => {
  it('are found', () => {
    expect(citations.length).toBeGreaterThan(300);
    for (const name of Object.keys(CONTRACTS)) expect(citations.some(({ contract }) => contract === name)).toBe(true);
  });

  it('have one spelling: "operations §3.2", "REST §1.4", "child protocol §6.1", and lists of such numbers', () => {
    const stray = sources.flatMap(({ file, text }) => {
      const { rest } = split(text);
      const numbers = rest.matchAll(
        /\b(?:operations|REST|child protocol) (?:rule \d|\d+\.\d)|\bseed (?:line|rule)\b|\(seed, [A-Z]/g,
      );
      return [...rest.matchAll(/§\d/g), ...numbers].map(
        ({ index }) => `${file}: ${rest.slice(index - 30, index + 30)}`,
      );
    });
    expect(stray).toEqual([]);
  });

  it('name sections that exist, and rows and labels within them', () => {
    const broken = citations.flatMap(({ file, contract, section, parts }) => {
      const text = contracts[contract].get(section);
      if (text === undefined) return [`${file}: ${contract} §${section}`];
      return parts.filter((part) => !holds(text, part)).map((part) => `${file}: ${contract} §${section} ${part}`);
    });
    expect(broken).toEqual([]);
  });
});

const documents = [
  ...filesBelow('docs', '.md'),
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...['src', 'tools', 'test', 'bench'].flatMap((folder) => filesBelow(folder, '.md')),
];

/** Text without code, which may contain things that look like links. */
function prose(file: string): string {
  return readFileSync(join(root, file), 'utf8')
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`\n]*`/g, '');
}

/** Anchors of the headings, as code hosts generate them. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documents', () => {
  it('link to files and headings that exist', () => {
    const broken = documents.flatMap((file) =>
      [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
        if (/^[a-z]+:/.test(target)) return [];
        const [path = '', anchor] = target.split('#');
        const to = path === '' ? join(root, file) : resolve(root, dirname(file), path);
        if (!existsSync(to)) return [`${file}: ${target}`];
        if (anchor === undefined || statSync(to).isDirectory()) return [];
        return anchorsOf(to).includes(anchor) ? [] : [`${file}: ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('list what is decided but not built, by the section that marks it', () => {
    const listed = readFileSync(join(root, 'docs/departures.md'), 'utf8');
    const missing = Object.entries(CONTRACTS).flatMap(([name, file]) => {
      const marked = new Set<string>();
      let section = '';
      for (const line of readFileSync(join(root, file), 'utf8').split('\n')) {
        section = new RegExp(`^#{2,5} (${NUMBER}) `).exec(line)?.[1] ?? section;
        if (line.includes('**[open]**') && section !== '') marked.add(section);
      }
      // Several sections of one contract share a row: `operations §5.1, §5.2`.
      return [...marked].filter((number) => !new RegExp(`${name} [^|]*§${number}[ ,]`).test(listed));
    });
    expect(missing).toEqual([]);
  });

  it('are all reached from the index, records of decisions from theirs', () => {
    const linked = (index: string) =>
      [...prose(index).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => join(dirname(index), target));
    const reached = [...linked('docs/README.md'), ...linked('docs/decisions/README.md')];
    const missing = filesBelow('docs', '.md').filter((file) => file !== 'docs/README.md' && !reached.includes(file));
    expect(missing).toEqual([]);
  });

  it('list every decision once, by a number of its own, each with its date and three parts', () => {
    const records = filesBelow('docs/decisions', '.md')
      .map((file) => file.slice('docs/decisions/'.length))
      .filter((file) => file !== 'README.md')
      .sort();
    const rows = [...prose('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\((\S+)\)/gm)];
    expect(rows.map(([, , file]) => file)).toEqual(records);
    expect(new Set(rows.map(([, number]) => number)).size).toBe(records.length);
    expect(rows.filter(([, number = '', file = '']) => !file.startsWith(`${number}-`))).toEqual([]);
    for (const file of records) {
      const text = readFileSync(join(root, 'docs/decisions', file), 'utf8');
      expect(text, file).toMatch(/^# \d{4}\. .+\n\n20\d\d-\d\d-\d\d\n/);
      for (const part of ['Context', 'Decision', 'Consequences']) expect(text, file).toContain(`**${part}.**`);
    }
  });
});

describe('docs/troubleshooting.md', () => {
  const text = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
  const named = [...text.matchAll(/`((?:svc|rest|ability|invalid|get|create|edit|update|delete)_[a-z_]+)`/g)].map(
    ([, code = '']) => code,
  );
  const statusOf = (code: string) => (STATUS as Readonly<Record<string, number>>)[code];

  it('names codes that there are', () => {
    const fields = ['request_id'];
    expect(named.filter((code) => statusOf(code) === undefined && !fields.includes(code))).toEqual([]);
  });

  it('says what to do about every failure that is not the fault of the input', () => {
    const failures = Object.keys(STATUS).filter(
      (code) => [401, 403, 429].includes(statusOf(code) ?? 0) || (statusOf(code) ?? 0) >= 500,
    );
    expect(failures.filter((code) => !named.includes(code))).toEqual([]);
  });
});
