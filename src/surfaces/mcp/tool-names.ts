/** Turns operation names in our own texts into MCP tool names (`svc-list-sites-v1`). */

import { toolName } from '../../operation/contract.js';
import { type Renaming, renamedIn, renaming } from '../../operation/operation-names.js';
import { errorHelp } from '../../runtime/error-codes.js';
import { ServiceError } from '../../runtime/errors.js';

/** Replaces the names of known operations in a text with tool names. */
export type NameTools = Renaming;

export function toolNamer(ids: readonly string[]): NameTools {
  return renaming(new Map(ids.map((id) => [id, toolName(id)])));
}

/** The error with tool names in its message and advice. */
export function withToolNames(error: ServiceError, nameTools: NameTools): ServiceError {
  return new ServiceError(error.code, nameTools(error.message), {
    status: error.status,
    ...(error.field === undefined ? {} : { field: error.field }),
    advice: nameTools(error.advice || errorHelp(error.code).next),
    data: renamedIn(error.data, nameTools),
    cause: error.cause,
  });
}
