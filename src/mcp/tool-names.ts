/** Names of operations in our own texts, as they are called over MCP: `svc-list-sites-v1` for `list-sites-v1` or `svc/list-sites-v1`. */

import { errorHelp } from '../core/error-help.js';
import { ServiceError } from '../core/errors.js';
import { toolName } from '../operation/contract.js';

const NAME = /(?<![\w/-])(?:svc\/)?[a-z]+(?:-[a-z]+)+-v\d+(?![\w-])/g;

/** Writes the names of these operations in a text as tool names; anything else stays. */
export type NameTools = (text: string) => string;

export function toolNamer(ids: readonly string[]): NameTools {
  const known = new Set(ids);
  return (text) =>
    text.replace(NAME, (name) => {
      const id = name.startsWith('svc/') ? name : `svc/${name}`;
      return known.has(id) ? toolName(id) : name;
    });
}

/** An error whose message and advice name tools. */
export function withToolNames(error: ServiceError, nameTools: NameTools): ServiceError {
  const advice = error.advice === undefined || error.advice === '' ? errorHelp(error.code)?.next : error.advice;
  return new ServiceError(error.code, nameTools(error.message), {
    status: error.status,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(advice === undefined ? {} : { advice: nameTools(advice) }),
    data: error.data,
    cause: error.cause,
  });
}
