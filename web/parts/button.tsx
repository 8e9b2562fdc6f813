/** Buttons and links that look like buttons. A busy button keeps its width and refuses a second press. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { useBusyForm } from './form-state.js';
import { Icon } from './icon.js';
import { type IconNode, Plus, Trash2 } from './icons.js';

interface Look {
  kind?: 'main' | 'plain' | 'danger' | 'quiet';
  icon?: IconNode;
  small?: boolean;
}

const classOf = ({ kind = 'plain', small = false }: Look) => `button ${kind}${small ? ' small' : ''}`;

interface Props extends Look {
  children: ComponentChildren;
  /** A promise keeps the button busy until it settles. */
  onClick?: () => unknown;
  type?: 'button' | 'submit';
  disabled?: boolean;
  busy?: boolean;
  label?: string;
  pressed?: boolean;
}

export function Button({ children, onClick, type = 'button', disabled = false, busy, label, pressed, ...look }: Props) {
  const [own, setOwn] = useState(false);
  const sending = useBusyForm() && type === 'submit';
  const waiting = busy ?? (own || sending);
  const press = async () => {
    if (waiting) return;
    const result = onClick?.();
    if (!(result instanceof Promise)) return;
    setOwn(true);
    await result.finally(() => setOwn(false));
  };
  return (
    <button
      type={type}
      class={`${classOf(look)}${waiting ? ' busy' : ''}`}
      disabled={disabled}
      aria-busy={waiting}
      aria-label={label}
      aria-pressed={pressed}
      onClick={press}
    >
      {look.icon && <Icon of={look.icon} />}
      <span>{children}</span>
    </button>
  );
}

/** The last button of a row in a list. Its click asks for confirmation. */
export function DeleteButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <Button small kind="danger" icon={Trash2} label={`${t.delete}: ${name}`} onClick={onClick}>
      {t.delete}
    </Button>
  );
}

/** The button above a list. */
export function AddButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <Button small icon={Plus} onClick={onClick}>
      {text}
    </Button>
  );
}

interface LinkProps extends Look {
  href: string;
  children: ComponentChildren;
  label?: string;
  /** Opens a new tab. */
  outside?: boolean;
}

export function LinkButton({ href, children, label, outside = false, ...look }: LinkProps) {
  const apart = outside ? { target: '_blank', rel: 'noopener noreferrer' } : {};
  return (
    <a class={classOf(look)} href={href} aria-label={label} {...apart}>
      {look.icon && <Icon of={look.icon} />}
      <span>{children}</span>
    </a>
  );
}
