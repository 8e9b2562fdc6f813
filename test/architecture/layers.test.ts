/** Who may import whom. Each folder of the table, and each file of src itself, is one part of the house. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/core/version.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What each part may import: anything of the first, only types of the second. */
const MAY: Record<string, readonly [values: string, types: string]> = {
  schemas: ['', ''],
  store: ['schemas', ''],
  child: ['schemas errors address', ''],
  probe: ['schemas errors address', ''],
  mail: ['schemas errors address', ''],
  audit: ['schemas errors address probe', ''],
  domain: ['schemas errors', 'context store child probe audit mail'],
  tools: ['schemas domain operation', 'context'],
  mcp: ['errors error-help contract gate json streams utf8', 'context operation auth'],
  run: ['errors contract json query-fields request-url signals utf8', 'context operation auth'],
  rest: [
    'schemas domain errors contract json lengths query-fields quick-input request-url signals utf8',
    'context auth store',
  ],
  jobs: ['domain errors', 'context store'],
  demo: ['schemas', ''],
  context: ['', 'store child probe audit mail'],
  reading: ['locks mail', 'audit child context operation probe store'],
  operation: ['schemas errors issue lengths strip quick-input', 'context'],
  contract: ['', 'schemas operation'],
  issue: ['', 'schemas'],
  lengths: ['schemas', ''],
  strip: ['', 'schemas'],
  'quick-input': ['', 'schemas'],
  config: ['config-values context', ''],
  'config-values': ['context', ''],
  auth: ['errors auth-known auth-refusals hash-queue throttle', 'context'],
  'hash-queue': ['auth-refusals', ''],
  http: ['errors metrics-access passage', 'auth context'],
  passage: ['errors arrival departure gate request-url', 'auth context'],
  arrival: ['gate', 'auth context'],
  'metrics-access': ['errors gate', ''],
  departure: ['', 'auth'],
  listen: ['errors streams', 'context auth'],
  share: ['', 'context locks child'],
  watch: ['errors metrics store', 'context child'],
  soundness: ['', 'context'],
  'soundness-thread': ['soundness store priority', ''],
  'secret-key': ['errors store', 'context'],
  engine: ['errors', 'context'],
  'engine-thread': ['engine errors log engine-build priority', ''],
  'replica-process': ['store', ''],
  surfaces: ['http mcp run rest version', 'auth context operation'],
};
const NOTHING = ['', ''] as const;
/** A single file of src without a line above: a small matter that stands by itself. */
const SMALL = ['errors', 'context auth'] as const;
/** They construct, so they know everything. */
const ROOTS = new Set(['main', 'engine-build', 'cli']);

/** External package → the files that may import it. */
const ONLY: [RegExp, RegExp][] = [
  [/^zod(\/|$)/, /^schemas\/zod\.ts$/],
  [/^zod-to-json-schema$/, /^src\/contract\.ts$/],
  [/^libsql$/, /^src\/store\/embedded.*\.ts$/],
  [/^@libsql\/client/, /^src\/store\/remote.*\.ts$/],
  [/^undici$/, /^src\/(child|probe|audit)\//],
  [/^croner$/, /^src\/(jobs|cli)\//],
  [/^(hono|@hono\/)/, /^src\/(run|rest|mcp)\/|^src\/(http|passage|listen|main|surfaces)\.ts$/],
  [/^@modelcontextprotocol\//, /^src\/mcp\/|^src\/main\.ts$/],
];

interface Import {
  file: string;
  from: string;
  /** What is imported: a file of ours, or a package. */
  to: string;
  part: string | null;
  type: boolean;
}

const IMPORT =
  /^(?:import|export)\s+(type\s+)?([^'"`;]*?)\s*from\s+'([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function partOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : top;
}

function importsOf(file: string): Import[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, type, names = '', ...specs]) => {
    const to = specs.find((spec) => spec !== undefined) ?? '';
    const ours = to.startsWith('.') ? normalize(join(dirname(file), to)).replace(/\.js$/, '.ts') : null;
    const members = /^\{([\s\S]*)\}$/
      .exec(names)?.[1]
      ?.split(',')
      .filter((name) => name.trim() !== '');
    const onlyTypes = members?.every((name) => name.trim().startsWith('type ')) ?? false;
    return {
      file,
      from: partOf(file),
      to: ours ?? to,
      part: ours === null ? null : partOf(ours),
      type: type !== undefined || onlyTypes,
    };
  });
}

const files = ['schemas', 'src', 'tools'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`),
);
const imports = files.flatMap(importsOf);

function isFolder(part: string): boolean {
  return files.some((file) => file.startsWith(`src/${part}/`) || file.startsWith(`${part}/`));
}

function allowed({ from, to, part, type }: Import): boolean {
  if (part === null || part === from || ROOTS.has(from)) return true;
  // The port of the network carries one value: the class by which the verbs tell its failures.
  if (from === 'domain' && to === 'src/child/child.ts') return true;
  const [values, types] = MAY[from] ?? (isFolder(from) ? NOTHING : SMALL);
  return values.split(' ').includes(part) || (type && types.split(' ').includes(part));
}

describe('the house', () => {
  it('is read whole', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(imports.filter(({ part }) => part !== null).length).toBeGreaterThan(500);
    for (const { to, part } of imports) if (part !== null) expect(files).toContain(to);
  });

  it('imports inwards only', () => {
    const broken = imports.filter((each) => !allowed(each));
    expect(broken.map(({ file, to, type }) => `${file} → ${to}${type ? ' (type)' : ''}`)).toEqual([]);
  });

  it('keeps each package behind its wall', () => {
    for (const [name, where] of ONLY) {
      const outside = imports.filter(({ to, part, file }) => part === null && name.test(to) && !where.test(file));
      expect(outside.map(({ file, to }) => `${file} → ${to}`)).toEqual([]);
    }
  });

  it('has no cycle between its parts', () => {
    const next = new Map<string, Set<string>>();
    for (const { from, part } of imports)
      if (part !== null && part !== from) next.set(from, (next.get(from) ?? new Set()).add(part));
    const done = new Set<string>();
    const visit = (part: string, path: readonly string[]): string[] | null => {
      if (path.includes(part)) return [...path.slice(path.indexOf(part)), part];
      if (done.has(part)) return null;
      for (const to of next.get(part) ?? []) {
        const cycle = visit(to, [...path, part]);
        if (cycle !== null) return cycle;
      }
      done.add(part);
      return null;
    };
    expect([...next.keys()].map((part) => visit(part, [])).find((cycle) => cycle !== null)).toBeUndefined();
  });

  it('reads the environment in one file and writes to stdout from the shell only', () => {
    const holding = (text: RegExp) => files.filter((file) => text.test(readFileSync(join(root, file), 'utf8')));
    expect(holding(/process\.env/)).toEqual(['src/config/config.ts']);
    // MCP speaks on stdout; the fleet process is a program of its own, which tells its parent where it listens.
    const speakers = new Set(['src/mcp/stdio.ts', 'src/demo/process.ts', 'src/cli.ts']);
    const others = holding(/process\.stdout|console\.log/).filter(
      (file) => !file.startsWith('src/cli/') && !speakers.has(file),
    );
    expect(others).toEqual([]);
  });

  it('says the version of its package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(version);
  });
});
