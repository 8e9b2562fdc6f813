import { parse } from 'node:querystring';

export type Param = string | Param[] | { [key: string]: Param };
export type Params = { [key: string]: Param };

/** A form body as PHP reads it: brackets nest, the last of equal names wins. */
export function parseForm(body: string): Params {
  const params: Params = Object.create(null);
  for (const [name, value] of Object.entries(parse(body, '&', '=', { maxKeys: 0 }))) {
    if (value === undefined) continue;
    const bracket = name.indexOf('[');
    if (bracket > 0 && name.endsWith(']')) {
      const path = [name.slice(0, bracket), ...name.slice(bracket + 1, -1).split('][')];
      for (const each of Array.isArray(value) ? value : [value]) put(params, path, each);
    } else {
      params[name] = Array.isArray(value) ? (value.at(-1) ?? '') : value;
    }
  }
  return params;
}

function put(params: Params, path: string[], value: string): void {
  let node: Params | Param[] = params;
  for (const [depth, key] of path.entries()) {
    const last = depth === path.length - 1;
    const existing: Param | undefined = Array.isArray(node) ? undefined : node[key];
    let child: Param = value;
    if (!last) {
      const empty: Param = path[depth + 1] === '' ? [] : Object.create(null);
      child = typeof existing === 'object' ? existing : empty;
    }
    if (Array.isArray(node)) node.push(child);
    else node[key] = child;
    if (typeof child === 'string') return;
    node = child;
  }
}

/** The parameter as text; empty when it is absent or no text. */
export function text(params: Params, name: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : '';
}

/** The parameter as an integer, as PHP's intval reads it. */
export function integer(params: Params, name: string, fallback = 0): number {
  const number = Number.parseInt(text(params, name), 10);
  return Number.isNaN(number) ? fallback : number;
}

/** A list in one text, empty items dropped. */
export function list(params: Params, name: string, separator: string): string[] {
  return split(text(params, name), separator);
}

export function split(source: string, separator: string): string[] {
  return source
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** A parameter with brackets; empty when absent. */
export function nested(params: Params, name: string): Params {
  const value = params[name];
  return typeof value === 'object' && !Array.isArray(value) ? value : Object.create(null);
}

/** A parameter that contains JSON text; undefined if it is absent or invalid. */
export function json(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** PHP writes an empty map as `[]` (child protocol §1.1). */
export function phpMap<T>(map: Record<string, T> | Map<string, T>): Record<string, T> | never[] {
  const object = map instanceof Map ? Object.fromEntries(map) : map;
  return Object.keys(object).length === 0 ? [] : object;
}
