/** The frame of a view: its heading, its actions, and the title of the tab. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../texts/texts.js';

interface Props {
  title: string;
  /** How many things wait here: shown in the title of the tab, so that it is seen from another one. */
  waiting?: number;
  /** Below the heading. */
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Set by the first view: the heading takes the focus only when one view replaces another. */
let shown = false;

/** The next page takes the focus, though it is the first one: what had it is gone. */
export function focusNextPage() {
  shown = true;
}

export function Page({ title, waiting = 0, about, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${waiting === 0 ? '' : `(${waiting}) `}${title} · ${t.product}`;
  }, [title, waiting]);
  useEffect(() => {
    // Unless a field of the view has taken it.
    const taken = heading.current?.closest('main')?.contains(document.activeElement);
    if (shown && !taken) heading.current?.focus({ preventScroll: true });
    shown = true;
  }, []);
  return (
    <div class="page">
      <header class="head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about && <div class="muted">{about}</div>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
  id,
}: {
  title?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  /** By which addresses name it. */
  id?: string;
}) {
  return (
    <section class="card" id={id}>
      {title !== undefined && (
        <header>
          <h2 tabIndex={id === undefined ? undefined : -1}>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}
