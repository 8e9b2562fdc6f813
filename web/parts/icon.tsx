/** Lucide icons, drawn inline. They never stand alone: a word or a label says the same. */

import { h } from 'preact';
import type { IconNode } from './icons.js';

interface Props {
  of: IconNode;
  class?: string;
}

export function Icon({ of, class: name = '' }: Props) {
  return (
    <svg
      class={`icon ${name}`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([tag, attributes], index) => h(tag, { ...attributes, key: index }))}
    </svg>
  );
}
