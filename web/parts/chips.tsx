/** Buttons of which any number is chosen: the last one that is left stays. */

interface ChipsProps<T extends string> {
  label: string;
  all: readonly T[];
  chosen: readonly T[];
  word: (one: T) => string;
  choose: (chosen: readonly T[]) => void;
}

export function Chips<T extends string>({ label, all, chosen, word, choose }: ChipsProps<T>) {
  return (
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
}
