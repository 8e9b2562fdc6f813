/** State shared by the parts of a form: the refusal, and whether an answer is pending. */

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApiError } from '../api/client.js';

interface FormState {
  refused: ApiError | null;
  busy: boolean;
  /** Names of the parameters that have a field. */
  fields: Set<string>;
}

export const CurrentForm = createContext<FormState>({ refused: null, busy: false, fields: new Set() });

/** Whether a refused parameter is the field's, or a part of it: `waves.sizes[1]` is one of `waves.sizes`. */
export const isOf = (field: string, parameter: string) =>
  parameter === field || parameter.startsWith(`${field}.`) || parameter.startsWith(`${field}[`);

/** Why the parameter of a field was refused. */
export function useRefusal(name: string | undefined): string | undefined {
  const { refused, fields } = useContext(CurrentForm);
  if (name === undefined) return undefined;
  fields.add(name);
  return Object.entries(refused?.reasons ?? {}).find(([parameter]) => isOf(name, parameter))?.[1];
}

export const useBusyForm = () => useContext(CurrentForm).busy;
