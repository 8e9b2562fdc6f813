/** Labelled fields of forms. */

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useRefusal } from './form-state.js';
import { Icon } from './icon.js';
import { Search } from './icons.js';

interface Common {
  label: string;
  hint?: string;
  /** The parameter that the field fills: the reason for its refusal is shown here. */
  name?: string;
}

/** The notes below a field, and the attributes that link them to it. */
function useNotes(name: string | undefined, hint: string | undefined) {
  const id = useId();
  const refusal = useRefusal(name);
  const ids = [hint && `${id}-hint`, refusal && `${id}-refusal`].filter(Boolean).join(' ');
  return {
    tied: {
      id,
      ...(ids === '' ? {} : { 'aria-describedby': ids }),
      ...(refusal === undefined ? {} : { 'aria-invalid': true }),
    },
    notes: (hint || refusal) && (
      <div class="notes">
        {hint && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
        {refusal && (
          <p class="problem" id={`${id}-refusal`} role="alert">
            {refusal}
          </p>
        )}
      </div>
    ),
  };
}

interface TextProps extends Common {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'password' | 'email' | 'url' | 'search' | 'number' | 'time' | 'date';
  required?: boolean;
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password' | 'email';
  placeholder?: string;
  /** The label is present for screen readers but not visible. */
  hidden?: boolean;
  /** Takes the focus when it appears. */
  focus?: boolean;
}

/** A text that a field edits: `<TextField {...text} />`. */
export function useText(initial = ''): Pick<TextProps, 'value' | 'onInput'> {
  const [value, onInput] = useState(initial);
  return { value, onInput };
}

export function TextField({
  label,
  hint,
  name,
  value,
  onInput,
  type = 'text',
  required = false,
  autocomplete,
  placeholder,
  hidden = false,
  focus = false,
}: TextProps) {
  const { tied, notes } = useNotes(name, hint);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (focus) input.current?.focus();
  }, [focus]);
  return (
    <div class="field">
      <label for={tied.id} class={hidden ? 'unseen' : ''}>
        {label}
      </label>
      <input
        {...tied}
        ref={input}
        // Each input type has its own attributes; these few are common to all.
        type={type as 'text'}
        value={value}
        required={required}
        autocomplete={autocomplete ?? 'off'}
        placeholder={placeholder}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {notes}
    </div>
  );
}

/** The search field of a list, with the label inside. */
export function SearchField({ label, value, onInput }: Pick<TextProps, 'label' | 'value' | 'onInput'>) {
  return (
    <div class="search">
      <Icon of={Search} />
      <TextField hidden type="search" label={label} placeholder={label} value={value} onInput={onInput} />
    </div>
  );
}

interface SelectProps extends Common {
  value: string;
  onChange: (value: string) => void;
  /** A third member: it only informs. */
  options: readonly (readonly [value: string, word: string, informs?: boolean])[];
  hidden?: boolean;
}

export function SelectField({ label, hint, name, value, onChange, options, hidden = false }: SelectProps) {
  const { tied, notes } = useNotes(name, hint);
  return (
    <div class="field">
      <label for={tied.id} class={hidden ? 'unseen' : ''}>
        {label}
      </label>
      <select {...tied} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, word, informs = false]) => (
          <option key={key} value={key} disabled={informs}>
            {word}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}

export function Check({
  label,
  checked,
  onChange,
  hidden = false,
  disabled = false,
}: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  hidden?: boolean;
  disabled?: boolean;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class={hidden ? 'unseen' : ''}>{label}</span>
    </label>
  );
}
