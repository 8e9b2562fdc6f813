/**
 * Which layer may import which. Each folder of `src`, and each top folder beside it, is one layer;
 * `docs/architecture.md` shows the table.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/runtime/version.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Layer {
  /** Description for the table. */
  about: string;
  /** Layers from which anything may be imported. */
  values?: string;
  /** Layers from which only types may be imported. */
  types?: string;
}

const LAYERS: Record<string, Layer> = {
  core: { about: 'errors, actors, clock, log and event ports; depends on nothing' },
  schemas: { about: 'the words: zod schemas of inputs and outputs', values: 'core' },
  config: { about: 'the environment, read once', values: 'core store' },
  store: { about: 'SQL, drivers, the schema, sealing', values: 'schemas' },
  child: { about: 'the child protocol over undici', values: 'schemas core' },
  guard: { about: 'signed requests to the guard on a site', types: 'child' },
  probe: { about: 'probes of public addresses: HTTP, TLS, RDAP, WHOIS', values: 'schemas core' },
  mail: { about: 'SMTP' },
  feed: { about: 'feeds of known vulnerabilities over HTTP and from files', values: 'core probe' },
  webhook: { about: 'webhooks and chat services over undici', values: 'core probe' },
  audit: { about: 'performance audits: Lighthouse, PageSpeed', values: 'core probe' },
  domain: {
    about: 'the verbs: functions (ctx, input)',
    values: 'schemas core',
    types: 'store child guard probe audit mail webhook feed config',
  },
  validation: { about: 'parsers and serializers compiled from zod schemas', values: 'schemas' },
  operation: {
    about: 'what an operation is, and its published contract',
    values: 'schemas core validation',
    types: 'domain config',
  },
  tools: { about: 'the operations, one file each', values: 'schemas domain operation', types: 'core' },
  http: { about: 'what all HTTP ways in share', values: 'core', types: 'config' },
  auth: { about: 'who is calling', values: 'core', types: 'http' },
  cluster: { about: 'several processes on one database', types: 'core child' },
  telemetry: { about: 'log, metrics, readiness', values: 'core store', types: 'child config' },
  mcp: { about: 'way in: assistants', values: 'core operation http', types: 'auth config' },
  run: { about: 'way in: Abilities clients', values: 'core operation http', types: 'auth' },
  rest: {
    about: 'way in: REST callers',
    values: 'schemas core domain http operation validation',
    types: 'auth config store',
  },
  page: { about: 'way in: people with a browser', values: 'core http', types: 'auth' },
  scheduler: { about: 'way in: the clock', values: 'core domain cluster', types: 'store' },
  engine: { about: 'the thread that writes, seen from the serving one', values: 'core', types: 'config' },
  demo: { about: 'a simulated fleet; stands alone' },
};

/** Composition roots: they may import everything. */
const ROOTS: Record<string, string> = { app: 'composition root', cli: 'the commands' };

/** External package → the files that may import it. */
const ONLY: [RegExp, RegExp][] = [
  [/^zod(\/|$)/, /^schemas\/zod\.ts$/],
  [/^zod-to-json-schema$/, /^src\/operation\/contract\.ts$/],
  [/^libsql$/, /^src\/store\/driver\/embedded/],
  [/^@libsql\/client/, /^src\/store\/driver\/remote.*\.ts$/],
  [/^undici$/, /^src\/(child|probe|audit|webhook|feed)\//],
  [/^@streamparser\//, /^src\/feed\//],
  [/^standardwebhooks$/, /^src\/webhook\//],
  [/^prom-client$/, /^src\/telemetry\//],
  [/^croner$/, /^src\/(scheduler|cli)\//],
  [/^(hono|@hono\/)/, /^src\/(run|rest|mcp|http|page)\/|^src\/app\/(service|http-app)\.ts$/],
  [/^@modelcontextprotocol\//, /^src\/mcp\//],
];

interface Import {
  file: string;
  from: string;
  /** The import's target: one of our files, or a package. */
  to: string;
  layer: string | null;
  type: boolean;
}

const IMPORT =
  /^(?:import|export)\s+(type\s+)?([^'"`;]*?)\s*from\s+'([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function layerOf(file: string): string {
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
      from: layerOf(file),
      to: ours ?? to,
      layer: ours === null ? null : layerOf(ours),
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

function allowed({ from, to, layer, type }: Import): boolean {
  if (layer === null || layer === from || from in ROOTS) return true;
  // Each network port exports one value: the class that domain code uses to recognize its failures.
  if (from === 'domain' && (to === 'src/outbound/child/port.ts' || to === 'src/outbound/guard/failure.ts')) return true;
  const { values, types } = LAYERS[from] ?? {};
  return listed(values).includes(layer) || (type && listed(types).includes(layer));
}

describe('the layers', () => {
  it('are read whole', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(imports.filter(({ layer }) => layer !== null).length).toBeGreaterThan(500);
    for (const { to, layer } of imports) if (layer !== null) expect(files).toContain(to);
  });

  it('are folders: src has no loose file but the command and the map', () => {
    const loose = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => !entry.isDirectory());
    expect(loose.map(({ name }) => name).sort()).toEqual(['README.md', 'cli.ts']);
    const folders = new Set(files.map(layerOf));
    expect([...folders].filter((name) => !(name in LAYERS) && !(name in ROOTS))).toEqual([]);
    expect([...Object.keys(LAYERS), ...Object.keys(ROOTS)].filter((name) => !folders.has(name))).toEqual([]);
  });

  it('import inwards only', () => {
    const broken = imports.filter((each) => !allowed(each));
    expect(broken.map(({ file, to, type }) => `${file} → ${to}${type ? ' (type)' : ''}`)).toEqual([]);
  });

  it('use all that the table allows', () => {
    const used = new Set(imports.map(({ from, layer }) => `${from} ${layer}`));
    const idle = Object.entries(LAYERS).flatMap(([from, { values, types }]) =>
      [...listed(values), ...listed(types)].filter((to) => !used.has(`${from} ${to}`)).map((to) => `${from} → ${to}`),
    );
    expect(idle).toEqual([]);
  });

  it('keep each package behind its wall', () => {
    for (const [name, where] of ONLY) {
      const outside = imports.filter(({ to, layer, file }) => layer === null && name.test(to) && !where.test(file));
      expect(outside.map(({ file, to }) => `${file} → ${to}`)).toEqual([]);
    }
  });

  it('have no cycle', () => {
    const next = new Map<string, Set<string>>();
    for (const { from, layer } of imports)
      if (layer !== null && layer !== from) next.set(from, (next.get(from) ?? new Set()).add(layer));
    const done = new Set<string>();
    const visit = (layer: string, path: readonly string[]): string[] | null => {
      if (path.includes(layer)) return [...path.slice(path.indexOf(layer)), layer];
      if (done.has(layer)) return null;
      for (const to of next.get(layer) ?? []) {
        const cycle = visit(to, [...path, layer]);
        if (cycle !== null) return cycle;
      }
      done.add(layer);
      return null;
    };
    expect([...next.keys()].map((layer) => visit(layer, [])).find((cycle) => cycle !== null)).toBeUndefined();
  });

  it('are shown in docs/architecture.md', () => {
    const file = join(root, 'docs/architecture.md');
    const names = (list?: string) =>
      listed(list)
        .map((name) => `\`${name}\``)
        .join(' ') || '–';
    const table = [
      '<!-- layers:start -->',
      '| Folder | What it is | May import | Types only |',
      '|---|---|---|---|',
      ...Object.entries(LAYERS).map(
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
    const outside = page.flatMap(importsOf).filter(({ layer }) => layer !== null && layer !== 'web');
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

  it('read the definitions of zod in one file', () => {
    const readers = files.filter((file) => /\._def\b|\b_parse(Sync)?\(/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers).toEqual(['schemas/zod-internals.ts']);
  });

  it('say the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(version);
  });
});
