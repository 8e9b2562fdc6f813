/** Buttons of which any number is chosen: the last one that is left stays. */

interface ChipsProps<T extends string> {
  label: string;
  /** The label is visible: in a form, as that of other fields. */
  labelled?: boolean;
  all: readonly T[];
  chosen: readonly T[];
  word: (one: T) => string;
  choose: (chosen: readonly T[]) => void;
}

export function Chips<T extends string>({ label, labelled = false, all, chosen, word, choose }: ChipsProps<T>) {
  const chips = (
    <fieldset class="chips" aria-label={label}>
      {all.map((one) => {
        const on = chosen.includes(one);
        return (
          <button
            key={one}
            type="button"
            class="chip"
            aria-pressed={on}
            disabled={on && chosen.length === 1}
            onClick={() => choose(all.filter((each) => (each === one ? !on : chosen.includes(each))))}
          >
            {word(one)}
          </button>
        );
      })}
    </fieldset>
  );
  if (!labelled) return chips;
  return (
    <div class="field">
      <span aria-hidden="true">{label}</span>
      {chips}
    </div>
  );
}
