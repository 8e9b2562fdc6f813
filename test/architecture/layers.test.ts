/**
 * The rooms of the house: which may import which, folder by folder and file by file. `docs/architecture.md` shows the table.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/runtime/version.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Room {
  /** Description for the table. */
  about: string;
  /** Rooms from which anything may be imported. */
  values?: string;
  /** Rooms from which only types may be imported. */
  types?: string;
}

/** From the ground up. */
const ROOMS: Record<string, Room> = {
  runtime: { about: 'configuration, clock, errors, events, log, leases, metrics: knows nothing of sites' },
  schemas: { about: 'the words: zod schemas of inputs and outputs', values: 'runtime' },
  store: { about: 'SQL, drivers, the schema, sealing', values: 'schemas runtime' },
  outbound: {
    about:
      'the other networks: child sites, guards, probes, mail, webhooks, feeds, audits, pictures, buckets, copies of sites',
    values: 'schemas runtime',
  },
  domain: { about: 'the verbs: functions (ctx, input)', values: 'schemas runtime', types: 'store outbound' },
  operation: {
    about: 'what an operation is, its published contract, validation',
    values: 'schemas runtime',
    types: 'domain',
  },
  tools: { about: 'the operations, one file each', values: 'schemas domain operation', types: 'runtime' },
  surfaces: {
    about: 'the ways in: HTTP, logins, MCP, Abilities, REST, the page',
    values: 'schemas runtime domain operation',
    types: 'store',
  },
  demo: { about: 'a simulated fleet; stands alone' },
};

/** Composition roots: they may import everything. */
const ROOTS: Record<string, string> = { app: 'the only place that constructs; the timetable', cli: 'the commands' };

/** Ways in never call each other. The page serves what people see of REST; each may use HTTP and logins. */
const WAYS_IN = ['mcp', 'abilities', 'rest', 'page'];

/** External package → the files that may import it. */
const ONLY: [RegExp, RegExp][] = [
  [/^zod(\/|$)/, /^schemas\/zod\.ts$/],
  [/^zod-to-json-schema$/, /^src\/operation\/contract\.ts$/],
  [/^libsql$/, /^src\/store\/driver\/embedded/],
  [/^@libsql\/client/, /^src\/store\/driver\/remote.*\.ts$/],
  [/^undici$/, /^src\/outbound\//],
  [/^modern-tar$/, /^src\/domain\/backups\/archive\.ts$/],
  [/^aws4fetch$/, /^src\/outbound\/objects\//],
  [/^pngjs$/, /^src\/outbound\/pictures\//],
  [/^pixelmatch$/, /^src\/domain\/updates\/safe\/compare-pictures\.ts$/],
  [/^@streamparser\//, /^src\/outbound\/feed\//],
  [/^standardwebhooks$/, /^src\/outbound\/webhook\//],
  [/^prom-client$/, /^src\/runtime\/telemetry\//],
  [/^croner$/, /^src\/(runtime\/clock\.ts$|cli\/)/],
  [/^hono\/html$/, /^src\/runtime\/html\.ts$/],
  [/^(hono(?!\/html$)|@hono\/)/, /^src\/surfaces\/|^src\/app\/(service|http-app)\.ts$/],
  [/^@modelcontextprotocol\//, /^src\/surfaces\/mcp\//],
];

interface Import {
  file: string;
  from: string;
  /** The import's target: one of our files, or a package. */
  to: string;
  room: string | null;
  type: boolean;
}

const IMPORT =
  /^(?:import|export)\s+(type\s+)?([^'"`;]*?)\s*from\s+'([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : top;
}

/** Inside the large rooms each folder counts; `runtime` and `demo` are one each. */
function folderOf(file: string): string {
  const [top = '', room = '', ...rest] = file.split('/');
  if (top !== 'src') return top;
  const nested = ['domain', 'surfaces', 'outbound', 'store'].includes(room) && rest.length > 1;
  return nested ? `${room}/${rest[0]}` : room;
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
      from: roomOf(file),
      to: ours ?? to,
      room: ours === null ? null : roomOf(ours),
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

const listed = (names = '') => names.split(' ').filter((name) => name !== '');

/** Values that verbs need of the other networks: the failures they recognize, and WordPress' maintenance page. */
const FOR_VERBS = [
  'src/outbound/child/port.ts',
  'src/outbound/copies/copies.ts',
  'src/outbound/guard/failure.ts',
  'src/outbound/maintenance-page.ts',
];

function allowed({ from, to, room, type }: Import): boolean {
  if (room === null || room === from || from in ROOTS) return true;
  if (from === 'domain' && FOR_VERBS.includes(to)) return true;
  const { values, types } = ROOMS[from] ?? {};
  return listed(values).includes(room) || (type && listed(types).includes(room));
}

/** A circle of imports, types included, in names of `nameOf`; undefined if there is none. */
function circle(nameOf: (file: string) => string): string[] | undefined {
  const next = new Map<string, Set<string>>();
  for (const { file, to, room } of imports) {
    const [from, target] = [nameOf(file), nameOf(to)];
    if (room !== null && from !== target) next.set(from, (next.get(from) ?? new Set()).add(target));
  }
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const to of next.get(name) ?? []) {
      const found = visit(to, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of next.keys()) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('the rooms', () => {
  it('are read whole', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(imports.filter(({ room }) => room !== null).length).toBeGreaterThan(500);
    for (const { to, room } of imports) if (room !== null) expect(files).toContain(to);
  });

  it('are folders: src has no loose file but the command and the map', () => {
    const loose = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => !entry.isDirectory());
    expect(loose.map(({ name }) => name).sort()).toEqual(['README.md', 'cli.ts']);
    const folders = new Set(files.map(roomOf));
    expect([...folders].filter((name) => !(name in ROOMS) && !(name in ROOTS))).toEqual([]);
    expect([...Object.keys(ROOMS), ...Object.keys(ROOTS)].filter((name) => !folders.has(name))).toEqual([]);
  });

  it('import inwards only', () => {
    const broken = imports.filter((each) => !allowed(each));
    expect(broken.map(({ file, to, type }) => `${file} → ${to}${type ? ' (type)' : ''}`)).toEqual([]);
  });

  it('use all that the table allows', () => {
    const used = new Set(imports.map(({ from, room }) => `${from} ${room}`));
    const idle = Object.entries(ROOMS).flatMap(([from, { values, types }]) =>
      [...listed(values), ...listed(types)].filter((to) => !used.has(`${from} ${to}`)).map((to) => `${from} → ${to}`),
    );
    expect(idle).toEqual([]);
  });

  it('of the ways in never call each other', () => {
    const wayOf = (file: string) => WAYS_IN.find((way) => file.startsWith(`src/surfaces/${way}/`));
    const calls = imports.filter(({ file, to }) => {
      const [from, target] = [wayOf(file), wayOf(to)];
      return from !== undefined && target !== undefined && from !== target;
    });
    expect(calls.map(({ file, to }) => `${file} → ${to}`)).toEqual([]);
  });

  it('keep each package behind its wall', () => {
    for (const [name, where] of ONLY) {
      const outside = imports.filter(({ to, room, file }) => room === null && name.test(to) && !where.test(file));
      expect(outside.map(({ file, to }) => `${file} → ${to}`)).toEqual([]);
    }
  });

  it('have no circle: neither rooms, nor folders, nor files, types included', () => {
    expect(circle(roomOf)).toBeUndefined();
    expect(circle(folderOf)).toBeUndefined();
    expect(circle((file) => file)).toBeUndefined();
  });

  it('are shown in docs/architecture.md', () => {
    const file = join(root, 'docs/architecture.md');
    const names = (list?: string) =>
      listed(list)
        .map((name) => `\`${name}\``)
        .join(' ') || '–';
    const table = [
      '<!-- layers:start -->',
      '| Room | What it is | May import | Types only |',
      '|---|---|---|---|',
      ...Object.entries(ROOMS).map(
        ([name, { about, values, types }]) => `| \`${name}\` | ${about} | ${names(values)} | ${names(types)} |`,
      ),
      ...Object.entries(ROOTS).map(([name, about]) => `| \`${name}\` | ${about} | everything | |`),
      '<!-- layers:end -->',
    ].join('\n');
    const text = readFileSync(file, 'utf8');
    const made = text.replace(/<!-- layers:start -->[\s\S]*<!-- layers:end -->/, () => table);
    if (process.env.npm_lifecycle_event === 'gen') return writeFileSync(file, made);
    expect(text, 'run "npm run gen"').toBe(made);
  });
});

describe('the page', () => {
  const page = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/^(apps|docs)\//.test(file))
    .map((file) => `web/${file}`);

  it('imports nothing of the program: what it knows of it is the generated types of its calls', () => {
    expect(page.length).toBeGreaterThan(30);
    const outside = page.flatMap(importsOf).filter(({ room }) => room !== null && room !== 'web');
    expect(outside.map(({ file, to }) => `${file} → ${to}`)).toEqual([]);
  });

  it('puts texts into the document as text only', () => {
    const raw = /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|\beval\(/;
    expect(page.filter((file) => raw.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });
});

describe('the sources', () => {
  it('read the environment in one file and write to stdout from the shell only', () => {
    const holding = (text: RegExp) => files.filter((file) => text.test(readFileSync(join(root, file), 'utf8')));
    expect(holding(/process\.env/)).toEqual(['src/runtime/config/config.ts']);
    // MCP uses stdout; the fleet process is a separate program, which reports its address to its parent.
    const speakers = new Set(['src/surfaces/mcp/stdio.ts', 'src/demo/process.ts', 'src/cli.ts']);
    const others = holding(/process\.stdout|console\.log/).filter(
      (file) => !file.startsWith('src/cli/') && !speakers.has(file),
    );
    expect(others).toEqual([]);
  });

  it('reach storage from verbs: ways in and operations do not', () => {
    const readers = files.filter(
      (file) => /^(tools|src\/surfaces)\//.test(file) && /\bctx\.store\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(readers).toEqual([]);
  });

  it('read the definitions of zod in one file', () => {
    const readers = files.filter((file) => /\._def\b|\b_parse(Sync)?\(/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers).toEqual(['schemas/zod-internals.ts']);
  });

  it('say the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(version);
  });
});
