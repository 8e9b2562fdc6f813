/**
 * Turns operation names in our own texts (`list-sites-v1`, `svc/list-sites-v1`) into MCP tool names
 * (`svc-list-sites-v1`).
 */

import { toolName } from '../../operation/contract.js';
import { errorHelp } from '../../runtime/error-codes.js';
import { ServiceError } from '../../runtime/errors.js';

const NAME = /(?<![\w/-])(?:svc\/)?[a-z]+(?:-[a-z]+)+-v\d+(?![\w-])/g;

/** Replaces the names of known operations in a text with tool names. */
export type NameTools = (text: string) => string;

export function toolNamer(ids: readonly string[]): NameTools {
  const known = new Set(ids);
  return (text) =>
    text.replace(NAME, (name) => {
      const id = name.startsWith('svc/') ? name : `svc/${name}`;
      return known.has(id) ? toolName(id) : name;
    });
}

/** The error with tool names in its message and advice. */
export function withToolNames(error: ServiceError, nameTools: NameTools): ServiceError {
  return new ServiceError(error.code, nameTools(error.message), {
    status: error.status,
    ...(error.field === undefined ? {} : { field: error.field }),
    advice: nameTools(error.advice || errorHelp(error.code).next),
    data: error.data,
    cause: error.cause,
  });
}
