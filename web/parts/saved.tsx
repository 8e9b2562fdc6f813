/** A choice that is saved as soon as it is made. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/**
 * Shows what was chosen until the saved value has been read. Drawn from the stored value alone, the field would fall back
 * whenever the view is drawn meanwhile.
 *
 * @param save whether it was saved; if not, the field falls back to `value`
 */
export function Saved<T>({
  value,
  save,
  children,
}: {
  value: T;
  save: (chosen: T) => Promise<boolean>;
  children: (shown: T, choose: (chosen: T) => void) => ComponentChildren;
}) {
  const [chosen, setChosen] = useState<{ value: T } | null>(null);
  useEffect(() => setChosen(null), [value]);
  const choose = async (next: T) => {
    setChosen({ value: next });
    if (!(await save(next))) setChosen(null);
  };
  return children(chosen === null ? value : chosen.value, (next) => void choose(next));
}
