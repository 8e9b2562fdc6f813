/** Forms: refusals are shown at their field, or below where they have none, and a form cannot be sent twice at once. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/client.js';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { CurrentForm, isOf } from './form-state.js';
import { wordsOf } from './states.js';

interface Props {
  /** An `ApiError` it throws is shown in the form. */
  onSubmit: () => Promise<unknown>;
  children: ComponentChildren;
}

export function Form({ onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const fields = useRef(new Set<string>()).current;
  const [refused, setRefused] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (refused !== null) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [refused]);
  const submit = async () => {
    if (busy) return;
    setBusy(true);
    setRefused(null);
    try {
      await onSubmit();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setRefused(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <CurrentForm.Provider value={{ refused, busy, fields }}>{children}</CurrentForm.Provider>
      {refused !== null && <Rest of={refused} fields={fields} />}
    </form>
  );
}

/** The last row of a form: cancel, in a dialog, or send. */
export function FormEnd({ send, cancel }: { send: string; cancel?: () => void }) {
  return (
    <div class="row end">
      {cancel && <Button onClick={cancel}>{t.cancel}</Button>}
      <Button kind="main" type="submit">
        {send}
      </Button>
    </div>
  );
}

/** Refusals of parameters that have no field. */
function Rest({ of: refused, fields }: { of: ApiError; fields: ReadonlySet<string> }) {
  const reasons = Object.entries(refused.reasons);
  const rest = reasons.filter(([name]) => ![...fields].some((field) => isOf(field, name)));
  if (reasons.length > 0 && rest.length === 0) return null;
  const lines = rest.length > 0 ? rest.map(([name, reason]) => `${name}: ${reason}`) : [wordsOf(refused)];
  return (
    <div class="problem" role="alert">
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}
