/** A question or a form over the page: the browser's own dialog, which traps the focus and closes on Escape. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { Icon } from './icon.js';
import { type IconNode, Trash2, X } from './icons.js';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** The button that confirms; one that cancels stands before it. */
  confirm?: ComponentChildren;
  /** Label of the button that cancels. */
  leave?: string;
  /** Buttons of another kind. */
  actions?: ComponentChildren;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, confirm, leave = t.cancel, actions, wide = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    // Otherwise the button that closes has the focus.
    element?.querySelector<HTMLElement>('.body :is(input, select, textarea)')?.focus();
    return () => {
      // While it is open, nothing behind it takes the focus.
      element?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  // The event `close` comes a moment after the key, when the next dialog may already be open.
  const cancel = (event: Event) => {
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    onClose();
  };
  // A browser that closes it without asking: those that are gone close nothing.
  const closed = () => dialog.current !== null && onClose();
  return (
    <dialog ref={dialog} class={wide ? 'wide' : ''} aria-labelledby={id} onCancel={cancel} onClose={closed}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="close" aria-label={t.close} onClick={() => onClose()}>
          <Icon of={X} />
        </button>
      </header>
      <div class="body">{children}</div>
      {confirm && (
        <footer>
          <Button onClick={onClose}>{leave}</Button>
          {confirm}
        </footer>
      )}
      {actions && <footer>{actions}</footer>}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: string;
  /** Label of the button that confirms. */
  word?: string;
  icon?: IconNode;
  /** Label of the button that cancels. */
  leave?: string;
  /** The dialog stays open until this settles. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({
  title,
  text,
  word = t.delete,
  icon = Trash2,
  leave = t.cancel,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      leave={leave}
      confirm={
        <Button kind="danger" icon={icon} onClick={() => onConfirm().finally(onClose)}>
          {word}
        </Button>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
