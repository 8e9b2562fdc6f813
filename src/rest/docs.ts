/** The interface description as a page for people, without scripts or external resources. */

import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { type JsonSchema, jsonSchema } from '../operation/contract.js';
import { groupOf } from './openapi.js';
import type { Route } from './route.js';

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 2rem 1rem 6rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; }
summary { cursor: pointer; display: flex; gap: .75rem; flex-wrap: wrap; align-items: baseline; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
.on { font-weight: 600; min-width: 9.5rem; } .what { margin-left: auto; opacity: .75; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
nav a { margin-right: .9rem; } pre { overflow: auto; padding: .5rem; border: 1px solid var(--line); }
`;
/** The one style sheet that the page's policy lets in. */
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Answers the page; made once per table of routes. */
export function createDocs(routes: readonly Route[], version: string): (c: Context) => Response {
  let page: string | undefined;
  return (c) => {
    page ??= render(routes, version);
    c.header('Content-Security-Policy', `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'`);
    c.header('Cache-Control', 'public, max-age=300');
    return c.html(page);
  };
}

function render(routes: readonly Route[], version: string): string {
  const groups = [...new Set(routes.map(groupOf))];
  const links = groups.map((name) => `<a href="#${name}">${text(name)}</a>`).join('');
  const sections = groups.map((name) => {
    const rows = routes.filter((route) => groupOf(route) === name).map(section);
    return `<section id="${name}"><h2>${text(name)}</h2>${rows.join('')}</section>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sitefleet REST API</title><style>${STYLE}</style></head>
<body><h1>Sitefleet REST API <small>${text(version)}</small></h1>
<p>All paths stand below <code>/v2</code>. Send <code>Authorization: Bearer &lt;token&gt;</code>; writes take JSON.
The same as data: <a href="/v2/openapi.json">openapi.json</a>.</p><nav>${links}</nav>${sections.join('')}</body></html>`;
}

function section(route: Route): string {
  const about = route.description === '' ? '' : `<p>${text(route.description)}</p>`;
  const needs = [`needs ${route.needs}`, ...(route.module === undefined ? [] : [`module ${route.module}`])].join(', ');
  const example = route.example === undefined ? '' : `<pre>${text(JSON.stringify(route.example, null, 2))}</pre>`;
  return `<details><summary><span class="on">${text(route.on.join(', '))}</span><code>${text(route.path)}</code>
<span class="what">${text(route.summary)}</span></summary>${about}<p>${text(needs)}</p>${table(route)}${example}</details>`;
}

function table(route: Route): string {
  const schema = jsonSchema(route.params);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  if (properties.length === 0) return '';
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const rows = properties.map(([name, property]) => {
    const where = route.pathParams.includes(name) ? 'path' : required.has(name) ? 'required' : 'optional';
    const meaning = typeof property.description === 'string' ? property.description : '';
    return `<tr><td><code>${text(name)}</code></td><td>${text(where)}</td><td>${text(typeOf(property))}</td><td>${text(meaning)}</td></tr>`;
  });
  return `<table><tr><th>Parameter</th><th></th><th>Type</th><th>Meaning</th></tr>${rows.join('')}</table>`;
}

function typeOf(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.join(' | ');
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonSchema)}`;
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type ?? 'any');
  return schema.default === undefined ? type : `${type}, default ${JSON.stringify(schema.default)}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function text(value: string): string {
  return value.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char);
}
