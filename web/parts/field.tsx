/** Labelled fields of forms. */

import { Search } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.js';

interface Common {
  label: string;
  hint?: string;
}

interface TextProps extends Common {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'password' | 'email' | 'url' | 'search' | 'number' | 'time';
  required?: boolean;
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password' | 'email';
  placeholder?: string;
  /** The label is there, but not seen. */
  hidden?: boolean;
}

export function TextField({
  label,
  hint,
  value,
  onInput,
  type = 'text',
  required = false,
  autocomplete,
  placeholder,
  hidden = false,
}: TextProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={hidden ? 'unseen' : ''}>
        {label}
      </label>
      <input
        id={id}
        // Each kind of input has attributes of its own; these few all of them have.
        type={type as 'text'}
        value={value}
        required={required}
        autocomplete={autocomplete ?? 'off'}
        placeholder={placeholder}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** What a list is searched for, with the label inside. */
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
  options: readonly (readonly [string, string])[];
  hidden?: boolean;
}

export function SelectField({ label, hint, value, onChange, options, hidden = false }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={hidden ? 'unseen' : ''}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, word]) => (
          <option key={key} value={key}>
            {word}
          </option>
        ))}
      </select>
      {hint && <p class="hint">{hint}</p>}
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

export function Form({ onSubmit, children }: { onSubmit: () => void; children: ComponentChildren }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
